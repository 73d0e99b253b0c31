import { Badge, Group, Table, Text } from '@mantine/core'
import type { SubscriptionChange, SubscriptionChangeKind } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatUtcDay } from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import tableClasses from '../shop/table.module.css'
import { CustomerLink } from './movement-table.tsx'

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
    <ScrollX label={t('Changes of subscriptions')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Change')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Plan')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Day')}</Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              {t('MRR before')}
            </Table.Th>
            <Table.Th ta="right">{t('MRR after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => {
            const { day, user_id, email, kind, tier, currency } = change
            return (
              <Table.Tr key={`${day} ${user_id} ${kind} ${currency} ${change.after_cents}`}>
                <Table.Td>
                  <CustomerLink id={user_id} name={email ?? t('Deleted account')} />
                  <Group gap={6} hiddenFrom="md">
                    <Badge color={KINDS[kind].color} hiddenFrom="sm">
                      {KINDS[kind].label}
                    </Badge>
                    <Text c="dimmed" size="sm">
                      {formatUtcDay(day)}
                    </Text>
                  </Group>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Badge color={KINDS[kind].color}>{KINDS[kind].label}</Badge>
                </Table.Td>
                <Table.Td visibleFrom="md">{tier === null ? '–' : planName(plans, tier)}</Table.Td>
                <Table.Td visibleFrom="md">{formatUtcDay(day)}</Table.Td>
                <Table.Td visibleFrom="md" ta="right" className={tableClasses.whole}>
                  {formatAmount(change.before_cents, currency)}
                </Table.Td>
                <Table.Td ta="right" className={tableClasses.whole}>
                  {formatAmount(change.after_cents, currency)}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}
