// What was used: the ledger of calls, their sums by day, and the months' budgets. Calls are written through `ledger` alone.
import { randomUUID } from 'node:crypto'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { startAlerts, type TellOwner } from './alerts.ts'
import { allowanceRoute, type KeyAllowance, keyUse } from './allowance.ts'
import { callRoutes } from './calls-routes.ts'
import { timeOrderedIds } from './ids.ts'
import { createLedger } from './ledger.ts'
import { watchNodes } from './nodes.ts'
import { createOpenCalls, recordOrphans } from './open-calls.ts'
import type { Period } from './periods.ts'
import { createPlanBudgets } from './plan-budgets.ts'
import { usageProblem } from './problems.ts'
import { usageRoutes } from './routes.ts'
import { eraseBudgets, eraseCallsSlice, listRecords } from './store.ts'

export type Usage = ReturnType<typeof createUsage>

/** `keyBudgets`: the user's live keys that have a budget in dollars. `tellOwner`: sends the letter of an alert. */
export type UsageNeeds = {
  keyBudgets(userId: string): Promise<KeyAllowance[]>
  tellOwner: TellOwner
}

export function createUsage(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'log' | 'metrics'>,
  { keyBudgets, tellOwner }: UsageNeeds,
) {
  const nodeId = randomUUID()
  const openCalls = createOpenCalls(platform, nodeId, timeOrderedIds())
  const planBudget = createPlanBudgets(platform.config)
  const ledger = createLedger(platform, { planBudget }, nodeId, openCalls)
  let stopAlerts = () => {}
  const nodes = watchNodes(platform, nodeId, recordOrphans)

  return {
    ledger,
    tags: [
      {
        name: 'usage',
        description: 'What was used, and its cost',
        problems: usageProblem.catalogue,
      },
    ],
    routes(app: App) {
      usageRoutes(app, platform)
      callRoutes(app, platform)
      allowanceRoute(app, platform, { planBudget, keyBudgets, heldNanos: ledger.heldNanos })
    },
    /** What a key has used of its own budgets. */
    keyUse: (userId: string, keyId: string, period: Period) =>
      keyUse(platform, userId, keyId, period),
    /** For the user's full export. */
    collect: async (db: Db, userId: string) => ({ usage: await listRecords(db, userId) }),
    erase: eraseBudgets,
    eraseSlices: [eraseCallsSlice],
    async open() {
      // Before the notes of the process that left it there become records of a crash.
      await ledger.start()
      await nodes.start()
      openCalls.start()
    },
    start() {
      stopAlerts = startAlerts(platform, tellOwner)
    },
    stop: () => stopAlerts(),
    async close() {
      openCalls.stop()
      await ledger.close()
      await nodes.stop()
    },
  }
}
