import type { UsageGroup } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { formatCount, formatDollars } from '../components/format.ts'
import { t } from '../language/text.ts'

const HEADS = {
  day: t('Day'),
  model: t('Model'),
  key: t('Key'),
  end_user: t('End user'),
  vendor: t('Vendor'),
  outcome: t('Status'),
} as const

const NUMBERS: Column<UsageGroup>[] = [
  { head: t('Requests'), ta: 'right', cell: ({ requests }) => formatCount(requests) },
  {
    head: t('Input tokens'),
    ta: 'right',
    visibleFrom: 'sm',
    cell: ({ prompt_tokens }) => formatCount(prompt_tokens),
  },
  {
    head: t('Output tokens'),
    ta: 'right',
    visibleFrom: 'sm',
    cell: ({ completion_tokens }) => formatCount(completion_tokens),
  },
  { head: t('Tokens'), ta: 'right', cell: ({ total_tokens }) => formatCount(total_tokens) },
  { head: t('Cost'), ta: 'right', cell: ({ cost_usd }) => formatDollars(cost_usd) },
]

type UsageTableProps = {
  groups: UsageGroup[]
  groupedBy: keyof typeof HEADS
  nameOf: (key: string) => string
}

export function UsageTable({ groups, groupedBy, nameOf }: UsageTableProps) {
  return (
    <DataTable
      label={t('Usage table')}
      miw={{ base: 0, sm: 560 }}
      className="numbers"
      verticalSpacing="xs"
      highlightOnHover={false}
      rows={groups}
      getKey={({ key }) => key}
      columns={[{ head: HEADS[groupedBy], cell: ({ key }) => nameOf(key) }, ...NUMBERS]}
    />
  )
}
