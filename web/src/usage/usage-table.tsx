import { Table } from '@mantine/core'
import type { UsageGroup } from '../api/types.ts'
import { formatCount, formatDollars } from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'

const HEADS = {
  day: 'Day',
  model: 'Model',
  key: 'Key',
  end_user: 'End user',
  vendor: 'Vendor',
  outcome: 'Status',
} as const

type UsageTableProps = {
  groups: UsageGroup[]
  groupedBy: keyof typeof HEADS
  nameOf: (key: string) => string
}

export function UsageTable({ groups, groupedBy, nameOf }: UsageTableProps) {
  return (
    <ScrollX label="Usage table">
      <Table miw={560} className="numbers" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{HEADS[groupedBy]}</Table.Th>
            <Table.Th ta="right">Requests</Table.Th>
            <Table.Th ta="right">Input tokens</Table.Th>
            <Table.Th ta="right">Output tokens</Table.Th>
            <Table.Th ta="right">Total</Table.Th>
            <Table.Th ta="right">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={group.key}>
              <Table.Td>{nameOf(group.key)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.requests)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.prompt_tokens)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.completion_tokens)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.total_tokens)}</Table.Td>
              <Table.Td ta="right">{formatDollars(group.cost_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}
