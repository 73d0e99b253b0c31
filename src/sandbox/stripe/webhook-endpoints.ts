/**
 * The webhook endpoints in the processor's API. The sandbox has the product's two endpoints only,
 * and sends all events to both.
 */
import type { Stripe } from 'stripe'
import { API_VERSION, type ProcessorDeps } from './deps.ts'

export function webhookEndpoints({
  endpoints,
}: Pick<ProcessorDeps, 'endpoints'>): Stripe.WebhookEndpoint[] {
  return endpoints().map(({ name, url }) => ({
    id: `we_sandbox_${name}`,
    object: 'webhook_endpoint',
    api_version: API_VERSION,
    application: null,
    created: 0,
    description: null,
    enabled_events: ['*'],
    livemode: false,
    metadata: {},
    status: 'enabled',
    url,
  }))
}
