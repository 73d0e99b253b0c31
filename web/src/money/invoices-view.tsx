import { Badge, Group, Text } from '@mantine/core'
import { IconFileInvoice } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AdminInvoice } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { EndlessList } from '../components/endless-list.tsx'
import { NativeFilter } from '../components/filters.tsx'
import { formatDay } from '../components/format.ts'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { describeCode } from '../shop/timeline.ts'
import { invoicesQuery } from './money-query.ts'
import { Customer } from './movement-table.tsx'

const route = getRouteApi('/app/run/run/money')

const STATUSES = ['open', 'paid', 'uncollectible', 'void', 'draft'] as const
const COLORS: Record<string, string> = { paid: 'pine', open: 'brass', uncollectible: 'red' }

const COLUMNS: Column<AdminInvoice>[] = [
  {
    head: t('Customer'),
    cell: ({ id, user_id, email, number }) => (
      <>
        <Customer user_id={user_id} email={email} />
        <Text c="dimmed" size="sm" hiddenFrom="md">
          {number ?? id}
        </Text>
      </>
    ),
  },
  { head: t('Number'), visibleFrom: 'md', cell: ({ number }) => number ?? '–' },
  {
    head: t('Status'),
    cell: ({ status }) => <Badge color={COLORS[status] ?? 'gray'}>{describeCode(status)}</Badge>,
  },
  {
    head: t('Date'),
    visibleFrom: 'md',
    breaks: 'nowhere',
    cell: ({ created_at }) => formatDay(created_at),
  },
  {
    head: t('Total'),
    ta: 'right',
    breaks: 'nowhere',
    cell: ({ total_cents, currency }) => formatAmount(total_cents, currency),
  },
]

export function InvoicesView() {
  const { status } = route.useSearch()
  const invoices = useInfiniteQuery(invoicesQuery(status))
  return (
    <section aria-label={t('All invoices')}>
      <Group mb="md">
        <NativeFilter
          name="status"
          aria-label={t('Status')}
          all={t('Any status')}
          data={STATUSES.map((value) => ({ value, label: describeCode(value) }))}
        />
      </Group>
      <EndlessList
        query={invoices}
        rows={(page) => page.invoices}
        what="invoice"
        none={
          <Notice icon={IconFileInvoice} title={t('No invoices')}>
            {t('Each period of a subscription has one.')}
          </Notice>
        }
      >
        {(shown) => (
          <DataTable label={t('Invoices')} rows={shown} getKey={({ id }) => id} columns={COLUMNS} />
        )}
      </EndlessList>
    </section>
  )
}
