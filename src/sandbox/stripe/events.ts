/**
 * Stores an event and its deliveries in the transaction of each change. The sandbox sends only the
 * events that the product subscribes to or shows.
 */
import type { Stripe } from 'stripe'
import { API_VERSION, type ProcessorDeps, seconds } from './deps.ts'
import { newId, put, type StoredEvent, type StripeObject } from './objects.ts'

export function emit<T extends StripeObject>(
  deps: ProcessorDeps,
  type: Stripe.Event.Type,
  object: T,
  previous?: object,
): StoredEvent {
  const event: StoredEvent = {
    id: newId('evt'),
    object: 'event',
    api_version: API_VERSION,
    created: seconds(deps),
    data: previous ? { object, previous_attributes: previous } : { object },
    livemode: false,
    pending_webhooks: deps.endpoints().length,
    request: { id: null, idempotency_key: null },
    type,
  }
  put(deps, event)
  const insert = deps.db.prepare(
    `insert into stripe_deliveries (event_id, endpoint, attempts, due_ms, state, note) values (?, ?, 0, ?, 'due', '')`,
  )
  for (const { name } of deps.endpoints()) insert.run(event.id, name, Date.now())
  deps.wake()
  return event
}

type More = { owner?: string; side?: object; previous?: object }

/** Stores a changed object and announces it. */
export function save<T extends StripeObject>(
  deps: ProcessorDeps,
  type: Stripe.Event.Type,
  object: T,
  { previous, ...more }: More = {},
): T {
  put(deps, object, more)
  emit(deps, type, object, previous)
  return object
}
