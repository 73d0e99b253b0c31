import { Anchor, Badge, Skeleton, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { invoicesQuery } from '../api/queries.ts'
import type { Invoice } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'

const STATUSES: Record<string, { name: string; color: string }> = {
  draft: { name: t('Draft'), color: 'gray' },
  open: { name: t('Open|invoice'), color: 'red' },
  paid: { name: t('Paid'), color: 'pine' },
  uncollectible: { name: t('Uncollectible'), color: 'gray' },
  void: { name: t('Void'), color: 'gray' },
}

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
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('Date')}</Table.Th>
                  <Table.Th visibleFrom="sm">{t('Description')}</Table.Th>
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
          )
        }
      </Loaded>
    </section>
  )
}

function InvoiceRow({ invoice }: { invoice: Invoice }) {
  const { status, pay_url: payUrl, pdf_url: pdfUrl, number } = invoice
  const { name, color } = STATUSES[status] ?? { name: status, color: 'gray' }
  const description = invoice.description ?? number
  return (
    <Table.Tr>
      <Table.Td>
        {formatDay(invoice.created_at)}
        <Text hiddenFrom="sm" c="dimmed" size="sm">
          {description}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">{description}</Table.Td>
      <Table.Td>
        <Badge color={color}>{name}</Badge>
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
