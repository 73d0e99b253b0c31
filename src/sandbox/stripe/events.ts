/** Every change of state becomes an event, stored with its deliveries in the transaction of the change itself. */
import type { Stripe } from 'stripe'
import { newId, put, type StripeObject } from './objects.ts'
import { API_VERSION, seconds, type World } from './world.ts'

export type StoredEvent = {
  id: string
  object: 'event'
  api_version: string
  created: number
  data: { object: StripeObject; previous_attributes?: object }
  livemode: false
  pending_webhooks: number
  request: { id: string | null; idempotency_key: string | null }
  type: string
}

export function emit<T extends StripeObject>(
  world: World,
  type: Stripe.Event.Type,
  object: T,
  previous?: object,
): StoredEvent {
  const event: StoredEvent = {
    id: newId('evt'),
    object: 'event',
    api_version: API_VERSION,
    created: seconds(world),
    data: previous ? { object, previous_attributes: previous } : { object },
    livemode: false,
    pending_webhooks: world.endpoints().length,
    request: { id: null, idempotency_key: null },
    type,
  }
  put(world.db, event)
  const insert = world.db.prepare(
    `insert into stripe_deliveries (event_id, endpoint, attempts, due_ms, state, note) values (?, ?, 0, ?, 'due', '')`,
  )
  for (const endpoint of world.endpoints()) insert.run(event.id, endpoint.name, Date.now())
  world.wake()
  return event
}
