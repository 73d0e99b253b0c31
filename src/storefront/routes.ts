import type { App } from '#platform/http/app.ts'
import type { ClaimDeps } from './claims/claims.ts'
import { claimRoutes } from './claims/routes.ts'
import type { ContactDeps } from './contact/contact.ts'
import { contactRoutes } from './contact/routes.ts'
import type { DownloadDeps } from './downloads/downloads.ts'
import { machineRoutes } from './downloads/machine-routes.ts'
import { downloadRoutes } from './downloads/routes.ts'
import { type LicenseDeps, licenseRoutes } from './licences/routes.ts'
import type { CodeDeps } from './pages/code-routes.ts'
import type { PlanDeps } from './pages/plan-cards.ts'
import { pageRoutes } from './pages/routes.ts'
import { type PaymentRouteDeps, paymentRoutes, STOREFRONT_EVENTS } from './payments/routes.ts'
import type { RecoveryDeps } from './purchases/recovery.ts'
import { purchaseRoutes } from './purchases/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { requireSameSite } from './sessions/same-site.ts'
import type { SessionDeps } from './sessions/sessions.ts'
import { withdrawalRoutes } from './withdrawals/routes.ts'
import type { WithdrawalDeps } from './withdrawals/withdrawals.ts'

/** The dependencies of all parts of the room. */
export type StorefrontDeps = SessionDeps &
  PaymentRouteDeps &
  RecoveryDeps &
  DownloadDeps &
  LicenseDeps &
  ContactDeps &
  WithdrawalDeps &
  ClaimDeps &
  CodeDeps &
  PlanDeps

/** Registers all routes of the storefront's server. */
export function storefrontRoutes(app: App, deps: StorefrontDeps): void {
  const ownOrigin = new URL(deps.config.urls.storefront).origin

  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(body as string)))
    },
  )
  app.addHook('onRequest', async (request) => {
    // The payment processor signs its requests. All other writes must come from this origin's pages
    // or from outside a browser.
    const writes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method)
    const { url, config } = request.routeOptions
    if (writes && url !== STOREFRONT_EVENTS && config.origins !== 'any')
      requireSameSite(request, ownOrigin)
  })

  sessionRoutes(app, deps)
  paymentRoutes(app, deps)
  purchaseRoutes(app, deps)
  licenseRoutes(app, deps)
  downloadRoutes(app, deps)
  machineRoutes(app, deps)
  contactRoutes(app, deps)
  withdrawalRoutes(app, deps)
  claimRoutes(app, deps)
  pageRoutes(app, deps)
}
