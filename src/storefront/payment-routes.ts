import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { SESSION_COOKIE } from '#platform/http/gate.ts'
import { Problem } from '#platform/problem.ts'
import { openCheckout } from './checkout.ts'
import { onPageError } from './pages/errors.ts'
import { receivePaymentEvent } from './payments.ts'
import { TIERS } from './products/releases.ts'
import { owns } from './purchase-store.ts'
import { findStoreCaller } from './sessions.ts'
import type { StorefrontDeps } from './storefront.ts'

export async function paymentRoutes(app: App, deps: StorefrontDeps, webhook: string): Promise<void> {
  app.get(
    '/api/checkout',
    {
      schema: {
        querystring: Type.Object({ tier: Type.Optional(Type.Unknown()) }),
        tags: ['checkout'],
        summary: 'Leads the browser to the hosted checkout',
      },
      // The session is looked at here: a wrong tier is told first, and a stranger is led to the login.
      config: { access: 'anyone' },
      errorHandler: onPageError(deps),
    },
    async (request, reply) => {
      const tier = TIERS.find((one) => one === request.query.tier)
      if (!tier) throw new Problem('tier_invalid', 400, 'Invalid tier specified')

      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      if (!caller) return reply.redirect(`/login?redirect=/api/checkout?tier=${tier}`, 302)
      if (await owns(deps.db, caller.userId, tier)) return reply.redirect('/dashboard', 302)
      return reply.redirect(await openCheckout(deps, caller.userId, tier), 302)
    },
  )

  await app.register(async (scope) => {
    // A signature covers the exact bytes.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.post(
      webhook,
      {
        schema: {
          response: { 200: Type.Object({ received: Type.Boolean() }) },
          tags: ['checkout'],
          summary: 'Takes the processor’s events',
        },
        config: { access: 'anyone', limit: 'none' },
      },
      async (request) => {
        const signature = request.headers['stripe-signature'] ?? request.headers['processor-signature']
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        await receivePaymentEvent(deps, body, [signature].flat()[0])
        return { received: true }
      },
    )
  })
}
