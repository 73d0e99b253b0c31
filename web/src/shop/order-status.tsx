import { Badge } from '@mantine/core'
import type { Order } from '../api/types.ts'

export type OrderStatus = Order['status']

export const STATUSES: Record<OrderStatus, { name: string; color: string }> = {
  completed: { name: 'Completed', color: 'pine' },
  expired: { name: 'Downloads used up', color: 'gray' },
  upgraded: { name: 'Replaced', color: 'gray' },
  disputed: { name: 'Disputed', color: 'brass' },
  refunded: { name: 'Refunded', color: 'gray' },
  withdrawn: { name: 'Withdrawn', color: 'gray' },
  revoked: { name: 'Revoked', color: 'red' },
}

export function OrderStatusBadge({ status }: { status: OrderStatus }) {
  const { name, color } = STATUSES[status]
  return (
    <Badge color={color} style={{ flexShrink: 0 }}>
      {name}
    </Badge>
  )
}

/** Neither the key nor the downloads work any more. */
export function hasEnded(status: OrderStatus): boolean {
  return status === 'refunded' || status === 'withdrawn' || status === 'revoked'
}
