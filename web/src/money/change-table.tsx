import { Badge, Group, Text } from '@mantine/core'
import type { SubscriptionChange, SubscriptionChangeKind } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { DataTable } from '../components/data-table.tsx'
import { formatUtcDay } from '../components/format.ts'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { Customer } from './movement-table.tsx'

export const KINDS: Record<SubscriptionChangeKind, { label: string; color: string }> = {
  new: { label: t('New'), color: 'pine' },
  expansion: { label: t('Expansion'), color: 'pine' },
  contraction: { label: t('Contraction'), color: 'brass' },
  churned: { label: t('Churned'), color: 'red' },
  trial_started: { label: t('Trial started'), color: 'gray' },
  trial_converted: { label: t('Trial converted'), color: 'pine' },
  trial_ended: { label: t('Trial ended'), color: 'gray' },
}

/** The changes of subscriptions behind MRR, each with its customer. */
export function ChangeTable({ changes }: { changes: SubscriptionChange[] }) {
  const plans = usePlans()
  return (
    <DataTable
      label={t('Changes of subscriptions')}
      rows={changes}
      getKey={({ day, user_id, kind, currency, after_cents }) =>
        `${day} ${user_id} ${kind} ${currency} ${after_cents}`
      }
      columns={[
        {
          head: t('Customer'),
          cell: ({ user_id, email, kind, day }) => (
            <>
              <Customer user_id={user_id} email={email} />
              <Group gap={6} hiddenFrom="md">
                <Badge color={KINDS[kind].color} hiddenFrom="sm">
                  {KINDS[kind].label}
                </Badge>
                <Text c="dimmed" size="sm">
                  {formatUtcDay(day)}
                </Text>
              </Group>
            </>
          ),
        },
        {
          head: t('Change'),
          visibleFrom: 'sm',
          cell: ({ kind }) => <Badge color={KINDS[kind].color}>{KINDS[kind].label}</Badge>,
        },
        {
          head: t('Plan'),
          visibleFrom: 'md',
          cell: ({ tier }) => (tier === null ? '–' : planName(plans, tier)),
        },
        { head: t('Day'), visibleFrom: 'md', cell: ({ day }) => formatUtcDay(day) },
        {
          head: t('MRR before'),
          visibleFrom: 'md',
          ta: 'right',
          breaks: 'nowhere',
          cell: ({ before_cents, currency }) => formatAmount(before_cents, currency),
        },
        {
          head: t('MRR after'),
          ta: 'right',
          breaks: 'nowhere',
          cell: ({ after_cents, currency }) => formatAmount(after_cents, currency),
        },
      ]}
    />
  )
}
