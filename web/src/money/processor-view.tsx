import { Badge, Button, Card, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Disagreement } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'

const processorKey = ['money', 'processor']

/**
 * Differences between the service and the payment processor. A job reconciles them every hour; a
 * button does it now.
 */
export function ProcessorView() {
  const look = useQuery(readQuery(processorKey, '/api/admin/billing/disagreements'))
  const sync = useMutation({
    mutationFn: () => api.post('/api/admin/billing/sync', undefined),
    onSuccess: () => queries.invalidateQueries({ queryKey: processorKey }),
  })
  return (
    <Card>
      <Group justify="space-between" gap="sm" mb="sm">
        <Text c="dimmed" size="sm">
          {t(
            'Compares subscriptions, purchases and the last 30 days of payments with the payment processor.',
          )}
        </Text>
        <Group gap="xs">
          <Button variant="default" loading={look.isFetching} onClick={() => void look.refetch()}>
            {t('Refresh')}
          </Button>
          <Button loading={sync.isPending} onClick={() => sync.mutate()}>
            {t('Reconcile now')}
          </Button>
        </Group>
      </Group>
      <FormProblem problem={sync.error} />
      {sync.isSuccess && (
        <Text size="sm" role="status" mb="sm">
          {t('Reconciling. Refresh in a moment.')}
        </Text>
      )}
      <Loaded query={look} skeleton={<Skeleton h={240} />}>
        {({ disagreements, accounts, is_whole }) =>
          disagreements.length === 0 ? (
            <Notice icon={IconCircleCheck} title={t('In sync with the payment processor')}>
              {plural(accounts, 'account')}{' '}
              {is_whole ? 'compared' : t('compared, most recently updated first')}.
            </Notice>
          ) : (
            <Stack gap="sm">
              {disagreements.map((one) => (
                <DisagreementRow key={`${one.about} ${one.id}`} one={one} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Card>
  )
}

function DisagreementRow({ one }: { one: Disagreement }) {
  return (
    <Paper withBorder radius="md" p="md" component="article">
      <Group justify="space-between" gap="xs">
        <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
          {one.email ?? t('Deleted or unknown user')}
        </Text>
        <Badge color="brass">{one.about}</Badge>
      </Group>
      <Text size="sm">{t('Here: {0}. At the processor: {1}.', one.ours, one.theirs)}</Text>
      <Text c="dimmed" size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
        {one.id}
      </Text>
    </Paper>
  )
}
