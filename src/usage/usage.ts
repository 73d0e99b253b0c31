// Usage: the ledger of calls, their sums by day, and budgets. Only `ledger` writes calls.
import { randomUUID } from 'node:crypto'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { type NotifyOwner, startAlerts } from './alerts.ts'
import { allowanceRoute, type KeyAllowance, keyUse } from './allowance.ts'
import { callRoutes } from './calls-routes.ts'
import { durationRoutes } from './durations.ts'
import { type FreeAllowance, Ledger } from './ledger.ts'
import type { Period } from './periods.ts'
import { createPlanBudgets } from './plan-budgets.ts'
import { usageProblem } from './problems.ts'
import { usageRoutes } from './routes.ts'
import { eraseBudgets, eraseCallsSlice, listRecords } from './store.ts'

export type Usage = ReturnType<typeof createUsage>

/**
 * `freeAllowance` decides who has the allowance of the free plan. `keyBudgets` lists the user's active keys
 * with a budget in dollars. `notifyOwner` sends the email of an alert.
 */
export type UsageNeeds = {
  freeAllowance: FreeAllowance
  keyBudgets(userId: string): Promise<KeyAllowance[]>
  notifyOwner: NotifyOwner
}

export function createUsage(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'log' | 'metrics'>,
  { freeAllowance, keyBudgets, notifyOwner }: UsageNeeds,
) {
  const planBudget = createPlanBudgets(platform.config)
  const ledger = new Ledger(platform, { planBudget, freeAllowance }, randomUUID())
  let stopAlerts = () => {}

  return {
    ledger,
    tags: [
      {
        name: 'usage',
        description: 'Usage and its cost',
        problems: usageProblem.catalogue,
      },
    ],
    routes(app: App) {
      usageRoutes(app, platform)
      callRoutes(app, platform)
      durationRoutes(app, platform)
      allowanceRoute(app, platform, { ledger, planBudget, freeAllowance, keyBudgets })
    },
    /** Reports the use of a key's budgets. */
    keyUse: (userId: string, keyId: string, period: Period) =>
      keyUse(platform, userId, keyId, period),
    /** Collects the data for the user's full export. */
    collect: async (db: Db, userId: string) => ({ usage: await listRecords(db, userId) }),
    erase: eraseBudgets,
    eraseSlices: [eraseCallsSlice],
    open: () => ledger.start(),
    start() {
      stopAlerts = startAlerts(platform, notifyOwner)
    },
    stop: () => stopAlerts(),
    close: () => ledger.close(),
  }
}
