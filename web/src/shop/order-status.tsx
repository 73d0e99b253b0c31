import { Badge } from '@mantine/core'
import type { Order } from '../api/types.ts'
import { t } from '../language/text.ts'

export type OrderStatus = Order['status']

export const STATUSES: Record<OrderStatus, { name: string; color: string }> = {
  completed: { name: t('Completed'), color: 'pine' },
  expired: { name: t('Downloads used up'), color: 'gray' },
  upgraded: { name: t('Replaced'), color: 'gray' },
  disputed: { name: t('Disputed'), color: 'brass' },
  refunded: { name: t('Refunded'), color: 'gray' },
  withdrawn: { name: t('Withdrawn'), color: 'gray' },
  revoked: { name: t('Revoked'), color: 'red' },
}

export function OrderStatusBadge({ status }: { status: OrderStatus }) {
  const { name, color } = STATUSES[status]
  return (
    <Badge color={color} style={{ flexShrink: 0 }}>
      {name}
    </Badge>
  )
}

/** A bundle has no license or download itself. */
export function isBundle({ id, bundle_id }: Pick<Order, 'id' | 'bundle_id'>): boolean {
  return bundle_id === id
}

/** A product of a bundle lives and ends with the order of the bundle. */
export function isMember({ id, bundle_id }: Pick<Order, 'id' | 'bundle_id'>): boolean {
  return bundle_id !== null && bundle_id !== id
}

/** Neither the key nor the downloads work any more. */
export function hasEnded(status: OrderStatus): boolean {
  return status === 'refunded' || status === 'withdrawn' || status === 'revoked'
}
