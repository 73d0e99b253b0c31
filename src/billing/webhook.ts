/** Billing's events: the inbox first, then the handling, so that nothing is lost. */
import type { App } from '#platform/http/app.ts'
import { hintOf } from './billing-events.ts'
import type { BillingDeps } from './deps.ts'
import { eventRoute } from './event-route.ts'

export const INBOX_SOURCE = 'processor.billing'

export function webhookRoute(app: App, deps: BillingDeps): void {
  eventRoute(app, deps, {
    url: '/api/billing/webhook',
    operationId: 'receiveBillingEvent',
    tag: 'billing',
    secret: deps.processor && deps.config.processor.webhookSecret,
    async receive(event) {
      const hint = hintOf(event)
      if (hint) await deps.inbox.receive(INBOX_SOURCE, hint.id, hint)
    },
  })
}
