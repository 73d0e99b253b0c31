import { Badge, Group, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Movement } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatDay, formatTime } from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { useTierNames } from '../shop/products-query.ts'
import tableClasses from '../shop/table.module.css'

const TYPES = {
  payment: { label: t('Payment'), color: 'pine' },
  refund: { label: t('Refund'), color: 'gray' },
  dispute: { label: t('Lost dispute'), color: 'red' },
} as const

/** Each row opens its order, or the customer of a subscription, where it can be refunded. */
export function MovementTable({ movements }: { movements: Movement[] }) {
  const nameProduct = useTierNames()
  const plans = usePlans()
  const nameSold = ({ kind, tier }: Movement) =>
    tier === null
      ? t('Unknown plan')
      : kind === 'purchase'
        ? nameProduct(tier)
        : planName(plans, tier)
  return (
    <ScrollX label={t('Payments and refunds')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="md">{t('For')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Type')}</Table.Th>
            <Table.Th visibleFrom="lg">{t('Invoice')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Date')}</Table.Th>
            <Table.Th ta="right">{t('Amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {movements.map((movement) => (
            <MovementRow
              key={`${movement.type} ${movement.id}`}
              movement={movement}
              sold={nameSold(movement)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function MovementRow({ movement, sold }: { movement: Movement; sold: string }) {
  const { at, type, invoice, amount_cents, currency } = movement
  return (
    <Table.Tr>
      <Table.Td>
        <Payer movement={movement} />
        <Group gap="2px 8px" mt={2} hiddenFrom="md">
          <Text size="sm">{sold}</Text>
          <TypeBadge type={type} />
          <Text c="dimmed" size="sm">
            {formatDay(at)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">{sold}</Table.Td>
      <Table.Td visibleFrom="md">
        <TypeBadge type={type} />
      </Table.Td>
      <Table.Td visibleFrom="lg" className={tableClasses.whole}>
        {invoice ?? '–'}
      </Table.Td>
      <Table.Td visibleFrom="md" className={tableClasses.whole}>
        {formatTime(at)}
      </Table.Td>
      <Table.Td ta="right" className={tableClasses.whole}>
        {formatAmount(amount_cents, currency)}
      </Table.Td>
    </Table.Tr>
  )
}

function TypeBadge({ type }: Pick<Movement, 'type'>) {
  const { label, color } = TYPES[type]
  return <Badge color={color}>{label}</Badge>
}

function Payer({ movement: { email, order_id, user_id } }: { movement: Movement }) {
  const name = email ?? t('Deleted account')
  if (order_id !== null)
    return (
      <Link to="/shop/orders/$id" params={{ id: order_id }} className={tableClasses.open}>
        {name}
      </Link>
    )
  return <CustomerLink id={email === null ? null : user_id} name={name} />
}

export function CustomerLink({ id, name }: { id: string | null; name: string }) {
  return id === null ? (
    name
  ) : (
    <Link to="/customers/$id" params={{ id }} className={tableClasses.open}>
      {name}
    </Link>
  )
}
