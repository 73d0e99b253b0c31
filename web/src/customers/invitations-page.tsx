import { Button, Card, Group, Paper, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconMailPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Invitation } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { formatAge, formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { CustomerSections } from './customer-sections.tsx'

const invitationsKey = ['customers', 'invitations']

/** Open invitations, for services where registration is by invitation. */
export function InvitationsPage() {
  const invitations = useQuery({
    queryKey: invitationsKey,
    queryFn: ({ signal }) => api.get('/api/admin/invitations', { signal }),
  })
  return (
    <Page
      title={t('Invitations')}
      lead={t('An invitation creates an account, also where registration is by invitation only.')}
      wide
    >
      <CustomerSections />
      <Stack>
        <Invite />
        <Card component="section" aria-label={t('Open invitations')}>
          <Loaded query={invitations} skeleton={<Skeleton h={160} />}>
            {({ invitations: open }) =>
              open.length === 0 ? (
                <Notice icon={IconMailPlus} title={t('No open invitations')}>
                  {t('An invitation is an emailed link. It works for one week and one address.')}
                </Notice>
              ) : (
                <Stack gap="sm">
                  {open.map((one) => (
                    <InvitationRow key={one.email} invitation={one} />
                  ))}
                </Stack>
              )
            }
          </Loaded>
        </Card>
      </Stack>
    </Page>
  )
}

function Invite() {
  const form = useForm({ initialValues: { email: '' } })
  const invite = useMutation({
    mutationFn: (values: typeof form.values) => api.post('/api/admin/invitations', values),
    onSuccess: () => {
      form.reset()
      return queries.invalidateQueries({ queryKey: invitationsKey })
    },
    onError: (problem) => setFieldErrors(form, problem),
  })
  return (
    <Card
      component="form"
      aria-label={t('Invite')}
      onSubmit={form.onSubmit((values) => invite.mutate(values))}
    >
      <TextInput
        label={t('Email address')}
        description={t('We email a link to create an account')}
        type="email"
        required
        maxLength={320}
        {...form.getInputProps('email')}
      />
      <Group mt="md">
        <Button type="submit" loading={invite.isPending}>
          {t('Invite')}
        </Button>
      </Group>
      <FormProblem problem={invite.error} fields={['email']} />
    </Card>
  )
}

function InvitationRow({
  invitation: { email, invited_at, expires_at },
}: {
  invitation: Invitation
}) {
  const withdraw = useMutation({
    mutationFn: () => api.delete('/api/admin/invitations', undefined, { query: { email } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: invitationsKey }),
  })
  return (
    <Paper withBorder radius="md" p="md" component="article">
      <Group justify="space-between" gap="sm">
        <div>
          <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
            {email}
          </Text>
          <Text c="dimmed" size="sm">
            {t('Invited {0}; expires {1}', formatAge(invited_at), formatTime(expires_at))}
          </Text>
        </div>
        <Button
          variant="default"
          loading={withdraw.isPending}
          onClick={() => withdraw.mutate()}
          aria-label={t('Withdraw the invitation for {0}', email)}
        >
          {t('Withdraw')}
        </Button>
      </Group>
      <FormProblem problem={withdraw.error} />
    </Paper>
  )
}
