import { Badge, Group, NativeSelect, Skeleton, Table, Text } from '@mantine/core'
import { IconFileInvoice } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AdminInvoice, InvoiceStatus } from '../api/types.ts'
import { formatDay, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { MoreRows } from '../shop/more-rows.tsx'
import tableClasses from '../shop/table.module.css'
import { describeCode } from '../shop/timeline.ts'
import { invoicesQuery } from './money-query.ts'
import { CustomerLink } from './movement-table.tsx'

const route = getRouteApi('/app/run/run/money')

const STATUSES = ['open', 'paid', 'uncollectible', 'void', 'draft'] as const
const COLORS: Record<string, string> = { paid: 'pine', open: 'brass', uncollectible: 'red' }

export function InvoicesView() {
  const { status } = route.useSearch()
  const navigate = route.useNavigate()
  const invoices = useInfiniteQuery({
    ...invoicesQuery(status),
    placeholderData: (previous) => previous,
  })
  return (
    <section aria-label={t('All invoices')}>
      <Group mb="md">
        <NativeSelect
          aria-label={t('Status')}
          value={status ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (search) => ({
                ...search,
                status: value === '' ? undefined : (value as InvoiceStatus),
              }),
              replace: true,
            })
          }
          data={[
            { value: '', label: t('Any status') },
            ...STATUSES.map((value) => ({ value, label: describeCode(value) })),
          ]}
        />
      </Group>
      <Loaded query={invoices} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.invoices)
          return shown.length === 0 ? (
            <Notice icon={IconFileInvoice} title={t('No invoices')}>
              {t('Each period of a subscription has one.')}
            </Notice>
          ) : (
            <>
              <InvoiceTable invoices={shown} />
              <MoreRows loaded={plural(shown.length, 'invoice')} query={invoices} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function InvoiceTable({ invoices }: { invoices: AdminInvoice[] }) {
  return (
    <ScrollX label={t('Invoices')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Number')}</Table.Th>
            <Table.Th>{t('Status')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Date')}</Table.Th>
            <Table.Th ta="right">{t('Total')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invoices.map(({ id, user_id, email, number, status, created_at, ...money }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <CustomerLink
                  id={email === null ? null : user_id}
                  name={email ?? t('Deleted account')}
                />
                <Text c="dimmed" size="sm" hiddenFrom="md">
                  {number ?? id}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="md">{number ?? '–'}</Table.Td>
              <Table.Td>
                <Badge color={COLORS[status] ?? 'gray'}>{describeCode(status)}</Badge>
              </Table.Td>
              <Table.Td visibleFrom="md" className={tableClasses.whole}>
                {formatDay(created_at)}
              </Table.Td>
              <Table.Td ta="right" className={tableClasses.whole}>
                {formatAmount(money.total_cents, money.currency)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}
