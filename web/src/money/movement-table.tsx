import { Badge, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Movement } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { DataTable } from '../components/data-table.tsx'
import { formatDay, formatTime } from '../components/format.ts'
import tableClasses from '../components/table.module.css'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { useTierNames } from '../shop/products-query.ts'

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
    <DataTable
      label={t('Payments and refunds')}
      rows={movements}
      getKey={({ type, id }) => `${type} ${id}`}
      columns={[
        {
          head: t('Customer'),
          cell: (movement) => (
            <>
              <Payer movement={movement} />
              <Group gap="2px 8px" mt={2} hiddenFrom="md">
                <Text size="sm">{nameSold(movement)}</Text>
                <TypeBadge type={movement.type} />
                <Text c="dimmed" size="sm">
                  {formatDay(movement.at)}
                </Text>
              </Group>
            </>
          ),
        },
        { head: t('For'), visibleFrom: 'md', cell: nameSold },
        { head: t('Type'), visibleFrom: 'md', cell: TypeBadge },
        {
          head: t('Invoice'),
          visibleFrom: 'lg',
          breaks: 'nowhere',
          cell: ({ invoice }) => invoice ?? '–',
        },
        {
          head: t('Date'),
          visibleFrom: 'md',
          breaks: 'nowhere',
          cell: ({ at }) => formatTime(at),
        },
        {
          head: t('Amount'),
          ta: 'right',
          breaks: 'nowhere',
          cell: ({ amount_cents, currency }) => formatAmount(amount_cents, currency),
        },
      ]}
    />
  )
}

function TypeBadge({ type }: Pick<Movement, 'type'>) {
  const { label, color } = TYPES[type]
  return <Badge color={color}>{label}</Badge>
}

function Payer({ movement: { email, order_id, user_id } }: { movement: Movement }) {
  if (order_id === null) return <Customer user_id={user_id} email={email} />
  return (
    <Link to="/shop/orders/$id" params={{ id: order_id }} className={tableClasses.open}>
      {email ?? t('Deleted account')}
    </Link>
  )
}

/** Deleted accounts have no page. */
export function Customer({ user_id, email }: { user_id: string | null; email: string | null }) {
  if (user_id === null || email === null) return email ?? t('Deleted account')
  return (
    <Link to="/customers/$id" params={{ id: user_id }} className={tableClasses.open}>
      {email}
    </Link>
  )
}
