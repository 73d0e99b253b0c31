/**
 * Creates the sandbox with the service's addresses. It calls back over these ports, as real
 * services do over the network.
 */

import { RECONCILE_JOB } from '#billing/reconciliation.ts'
import type { Config } from '#config/config.ts'
import type { Embedder } from '#embeddings/embedder.ts'
import { isMovable } from '#platform/clock.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import type { Platform } from '#platform/platform.ts'
import { createSandbox, type Sandbox, type SandboxNeeds } from '#sandbox/sandbox.ts'
import { STOREFRONT_EVENTS } from '#storefront/payments/routes.ts'

export function openSandbox(
  { config, clock, db, jobs, log }: Pick<Platform, 'config' | 'clock' | 'db' | 'jobs' | 'log'>,
  embedder: Embedder,
): Sandbox {
  const never = new AbortController().signal
  return createSandbox({
    dataDir: config.dataDir,
    clock,
    hands: {
      advance: config.processor.sandboxed && isMovable(clock) ? (ms) => clock.advance(ms) : null,
      // Jobs that run hourly run once for each day that the clock moves.
      async catchUp({ isThere }) {
        const payload = { byClockAlone: !isThere }
        await jobs.enqueue(db, RECONCILE_JOB, payload, {
          key: `${RECONCILE_JOB}:${isThere ? 'moved' : 'moving'}`,
        })
        await jobs.drain()
      },
    },
    log,
    embed: async (texts) => (await embedder.embed(texts, 'document', never)).vectors,
    open: config.sandbox.open,
    baseUrl: () => config.urls.base,
    catalogue: config.catalogue,
    endpoints: () => findWebhookEndpoints(config),
  })
}

/**
 * The addresses that receive the processor's events; empty when the service uses another processor.
 */
function findWebhookEndpoints({
  processor,
  serve,
  urls,
  http,
}: Config): ReturnType<SandboxNeeds['endpoints']> {
  const { webhookSecret, storefrontWebhookSecret } = processor
  // Operators may also use their own key with the sandbox's processor.
  const isPlayed = processor.sandboxed || processor.apiBase?.endsWith('/sandbox/stripe')
  if (!isPlayed || webhookSecret === null || storefrontWebhookSecret === null) return []
  // Events always go to ports of this machine, also when the storefront runs in another process,
  // because the webhooks accept them from nowhere else.
  const isElsewhere = !serve.has('storefront') && isLoopbackHost(new URL(urls.storefront).host)
  const storefront = isElsewhere ? urls.storefront : `http://127.0.0.1:${http.storefrontPort}`
  return [
    {
      name: 'billing',
      url: `http://127.0.0.1:${http.port}/api/billing/webhook`,
      secret: webhookSecret,
    },
    {
      name: 'storefront',
      url: `${storefront}${STOREFRONT_EVENTS}`,
      secret: storefrontWebhookSecret,
    },
  ]
}
