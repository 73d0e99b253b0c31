import { Anchor, Badge, Skeleton, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { invoicesQuery } from '../api/queries.ts'
import type { Invoice } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'

const COLORS: Record<string, string> = { paid: 'pine', open: 'red' }

/** All invoices with their PDF and payment link. */
export function Invoices() {
  const invoices = useQuery(invoicesQuery)
  return (
    <section aria-labelledby="invoices">
      <Title order={2} fz="h3" id="invoices" mb="sm">
        {t('Invoices')}
      </Title>
      <Loaded query={invoices} skeleton={<Skeleton h={80} />}>
        {({ invoices }) =>
          invoices.length === 0 ? (
            <Text c="dimmed">{t('No invoices yet.')}</Text>
          ) : (
            <Table.ScrollContainer minWidth={560}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('Date')}</Table.Th>
                    <Table.Th>{t('Description')}</Table.Th>
                    <Table.Th>{t('Status')}</Table.Th>
                    <Table.Th ta="right">{t('Total')}</Table.Th>
                    <Table.Th ta="right">{t('Invoice')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {invoices.map((invoice) => (
                    <InvoiceRow key={invoice.id} invoice={invoice} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
    </section>
  )
}

function InvoiceRow({ invoice }: { invoice: Invoice }) {
  const { status, pay_url: payUrl, pdf_url: pdfUrl, number } = invoice
  return (
    <Table.Tr>
      <Table.Td>{formatDay(invoice.created_at)}</Table.Td>
      <Table.Td>{invoice.description ?? number}</Table.Td>
      <Table.Td>
        <Badge color={COLORS[status] ?? 'gray'}>{status}</Badge>
      </Table.Td>
      <Table.Td ta="right">{formatMoney(invoice.total, invoice.currency)}</Table.Td>
      <Table.Td ta="right">
        {status === 'open' && payUrl !== null && (
          <Anchor href={payUrl} mr="sm">
            {rich('Pay{0}', <span hidden> {t('invoice {0}', number)}</span>)}
          </Anchor>
        )}
        {pdfUrl !== null && (
          <Anchor href={pdfUrl} aria-label={t('PDF of invoice {0}', number ?? '')}>
            {t('PDF')}
          </Anchor>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
