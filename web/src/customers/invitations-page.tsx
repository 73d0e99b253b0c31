import { Button, Card, Group, Skeleton, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconMailPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Invitation } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { formatAge, formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import tableClasses from '../components/table.module.css'
import { t } from '../language/text.ts'
import { CustomerSections } from './customer-sections.tsx'

const invitationsKey = ['customers', 'invitations']

/** Open invitations, for services where registration is by invitation. */
export function InvitationsPage() {
  const invitations = useQuery(readQuery(invitationsKey, '/api/admin/invitations'))
  return (
    <Page
      title={t('Invitations')}
      lead={t('An invitation creates an account, also where registration is by invitation only.')}
      wide
    >
      <CustomerSections />
      <Stack>
        <Invite />
        <section aria-label={t('Open invitations')}>
          <Loaded query={invitations} skeleton={<Skeleton h={160} />}>
            {({ invitations: open }) =>
              open.length === 0 ? (
                <Notice icon={IconMailPlus} title={t('No open invitations')}>
                  {t('An invitation is an emailed link. It works for one week and one address.')}
                </Notice>
              ) : (
                <InvitationTable invitations={open} />
              )
            }
          </Loaded>
        </section>
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
      <Group align="flex-end" gap="sm">
        <TextInput
          flex="1 1 16rem"
          maw={480}
          label={t('Email address')}
          description={t('We email a link to create an account')}
          type="email"
          required
          maxLength={320}
          {...form.getInputProps('email')}
        />
        <Button type="submit" loading={invite.isPending}>
          {t('Invite')}
        </Button>
      </Group>
      <FormProblem problem={invite.error} fields={['email']} />
    </Card>
  )
}

function InvitationTable({ invitations }: { invitations: readonly Invitation[] }) {
  return (
    <ScrollX label={t('Open invitations')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Email address')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Invited')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Expires')}</Table.Th>
            <Table.Th>
              <span className="visually-hidden">{t('Withdraw')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invitations.map((invitation) => (
            <InvitationRow key={invitation.email} invitation={invitation} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
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
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {email}
        <Text c="dimmed" size="sm" hiddenFrom="sm">
          {t('Invited {0}; expires {1}', formatAge(invited_at), formatTime(expires_at))}
        </Text>
        <FormProblem problem={withdraw.error} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{formatAge(invited_at)}</Table.Td>
      <Table.Td visibleFrom="sm">{formatTime(expires_at)}</Table.Td>
      <Table.Td ta="right" className={tableClasses.actions}>
        <Button
          variant="default"
          loading={withdraw.isPending}
          onClick={() => withdraw.mutate()}
          aria-label={t('Withdraw the invitation for {0}', email)}
        >
          {t('Withdraw')}
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
