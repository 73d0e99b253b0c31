import { join } from 'node:path'
import type { Ai } from '#ai/ai.ts'
import type { Billing } from '#billing/billing.ts'
import { billingProblem } from '#billing/problems.ts'
import type { Processor } from '#billing/processor.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { storefrontProblem } from '#storefront/problems.ts'
import type { ProductDeps } from '#storefront/products/releases.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { switchProblem } from '#switches/problems.ts'
import { adminActivityRoutes } from './activity-routes.ts'
import { adminBillingRoutes } from './billing-routes.ts'
import { adminBrandRoutes } from './brand-routes.ts'
import { adminCatalogueRoutes } from './catalogue-routes.ts'
import { adminCustomerRoutes } from './customer-routes.ts'
import { emailDeadJobs } from './dead-jobs.ts'
import { adminDiscountRoutes } from './discount-routes.ts'
import { adminDisputeRoutes } from './dispute-routes.ts'
import { adminEmailRoutes } from './email-routes.ts'
import { adminHealthRoutes } from './health-routes.ts'
import { adminInboxRoutes } from './inbox-routes.ts'
import { adminMetricRoutes } from './metric-routes.ts'
import { adminModelRoutes } from './model-routes.ts'
import { adminMoneyRoutes } from './money-routes.ts'
import { adminPlanRoutes } from './plan-routes.ts'
import { adminProblem } from './problems.ts'
import { adminProductRoutes } from './product-routes.ts'
import { adminPurchaseRoutes } from './purchase-routes.ts'
import { adminReleaseRoutes } from './release-routes.ts'
import { adminRoutes } from './routes.ts'
import { adminSwitchRoutes } from './switch-routes.ts'
import { adminTimeRoutes, type TimeMachine } from './time-routes.ts'
import { adminUsageRoutes } from './usage-routes.ts'
import { adminUseRoutes } from './use-routes.ts'

type Needs = {
  identity: Identity
  billing: Billing
  switches: LiveSwitches
  ai: Pick<Ai, 'gateway'>
  /** Null: billing is not configured. */
  processor: Processor | null
  /** Null: the clock cannot be moved. */
  timeMachine: TimeMachine | null
}

export function createAdmin(
  platform: Platform & ProductDeps,
  { identity, billing, switches, ai, processor, timeMachine }: Needs,
): Room {
  emailDeadJobs(platform)
  const uploads = createTemporaryFiles(join(platform.config.dataDir, 'tmp'), { memoryBytes: 0 })
  return {
    tags: [
      {
        name: 'admin',
        description: 'For superusers',
        problems: {
          ...identityProblem.catalogue,
          ...billingProblem.catalogue,
          ...storefrontProblem.catalogue,
          ...adminProblem.catalogue,
          ...switchProblem.catalogue,
        },
      },
    ],
    async routes(app) {
      adminRoutes(app, { ...platform, identity })
      adminActivityRoutes(app, platform)
      adminEmailRoutes(app, platform)
      adminCustomerRoutes(app, { ...platform, identity, billing })
      adminPlanRoutes(app, platform, billing)
      adminUsageRoutes(app, platform)
      adminUseRoutes(app, platform)
      adminModelRoutes(app, platform, ai)
      adminCatalogueRoutes(app, platform, billing)
      adminHealthRoutes(app, platform)
      adminMetricRoutes(app, platform)
      adminMoneyRoutes(app, platform)
      adminSwitchRoutes(app, platform, { switches, ai })
      adminBillingRoutes(app, platform, billing)
      adminProductRoutes(app, platform)
      await adminReleaseRoutes(app, { ...platform, temporaryFiles: uploads })
      adminPurchaseRoutes(app, platform, billing)
      adminDisputeRoutes(app, platform)
      adminInboxRoutes(app, platform)
      adminTimeRoutes(app, platform, timeMachine)
      adminBrandRoutes(app, platform, billing)
      adminDiscountRoutes(app, { ...platform, processor })
    },
    close: () => uploads.close(),
  }
}
