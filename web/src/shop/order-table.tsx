import { Group, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Order } from '../api/types.ts'
import { formatAge, formatDay, formatTime } from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import { isBundle, OrderStatusBadge } from './order-status.tsx'
import { useTierNames } from './products-query.ts'

/** One row per order; phones show the buyer, the status and the amount. */
export function OrderTable({ orders }: { orders: Order[] }) {
  const nameTier = useTierNames()
  return (
    <ScrollX label={t('Orders')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Buyer')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Product')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Status')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Date')}</Table.Th>
            <Table.Th visibleFrom="lg" ta="right">
              {t('Downloads')}
            </Table.Th>
            <Table.Th ta="right">{t('Amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {orders.map((order) => (
            <OrderRow key={order.id} order={order} product={nameTier(order.tier)} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function OrderRow({ order, product }: { order: Order; product: string }) {
  const { id, email, status, created_at, download_count, max_downloads } = order
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/shop/orders/$id" params={{ id }} className={classes.open}>
          {email ?? t('Deleted account')}
        </Link>
        <Group gap="2px 8px" mt={2} hiddenFrom="md">
          <Text size="sm">{product}</Text>
          <OrderStatusBadge status={status} />
          <Text c="dimmed" size="sm">
            {formatDay(created_at)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">{product}</Table.Td>
      <Table.Td visibleFrom="md">
        <OrderStatusBadge status={status} />
      </Table.Td>
      <Table.Td visibleFrom="md" className={classes.whole} title={formatAge(created_at)}>
        {formatTime(created_at)}
      </Table.Td>
      <Table.Td visibleFrom="lg" ta="right">
        {isBundle(order) ? '–' : t('{0} of {1}', download_count, max_downloads)}
      </Table.Td>
      <Table.Td ta="right" className={classes.whole}>
        <Amount order={order} />
      </Table.Td>
    </Table.Tr>
  )
}

function Amount({ order }: { order: Order }) {
  const { amount_cents, refunded_cents, currency } = order
  return (
    <>
      {formatAmount(amount_cents, currency)}
      {refunded_cents > 0 && refunded_cents < amount_cents && (
        <Text c="dimmed" size="xs" component="div">
          {t('{0} refunded', formatAmount(refunded_cents, currency))}
        </Text>
      )}
    </>
  )
}
