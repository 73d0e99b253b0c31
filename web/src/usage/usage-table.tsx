import { Table } from '@mantine/core'
import type { UsageGroup } from '../api/types.ts'
import { formatCount, formatDollars } from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'

const HEADS = {
  day: t('Day'),
  model: t('Model'),
  key: t('Key'),
  end_user: t('End user'),
  vendor: t('Vendor'),
  outcome: t('Status'),
} as const

type UsageTableProps = {
  groups: UsageGroup[]
  groupedBy: keyof typeof HEADS
  nameOf: (key: string) => string
}

export function UsageTable({ groups, groupedBy, nameOf }: UsageTableProps) {
  return (
    <ScrollX label={t('Usage table')}>
      <Table miw={{ base: 0, sm: 560 }} className="numbers" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{HEADS[groupedBy]}</Table.Th>
            <Table.Th ta="right">{t('Requests')}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('Input tokens')}
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t('Output tokens')}
            </Table.Th>
            <Table.Th ta="right">{t('Tokens')}</Table.Th>
            <Table.Th ta="right">{t('Cost')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={group.key}>
              <Table.Td>{nameOf(group.key)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.requests)}</Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {formatCount(group.prompt_tokens)}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {formatCount(group.completion_tokens)}
              </Table.Td>
              <Table.Td ta="right">{formatCount(group.total_tokens)}</Table.Td>
              <Table.Td ta="right">{formatDollars(group.cost_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}
