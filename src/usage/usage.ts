// What was used: the ledger of calls, their sums by day, and the months' budgets. Calls are written through `ledger` alone.
import { randomUUID } from 'node:crypto'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { recountBudgets } from './budgets.ts'
import { callRoutes } from './calls-routes.ts'
import { timeOrderedIds } from './ids.ts'
import { createLedger, type LedgerNeeds } from './ledger.ts'
import { watchNodes } from './nodes.ts'
import { createOpenCalls, recordOrphans } from './open-calls.ts'
import { usageProblem } from './problems.ts'
import { usageRoutes } from './routes.ts'
import { eraseUsage, listRecords } from './store.ts'

export type Usage = ReturnType<typeof createUsage>

export function createUsage(platform: Platform, { keyTokens }: Pick<LedgerNeeds, 'keyTokens'>) {
  const { budgets } = platform.config
  const nodeId = randomUUID()
  const countsAll = budgets.size > 0
  const openCalls = createOpenCalls(platform, nodeId, timeOrderedIds())
  const ledger = createLedger(
    platform,
    {
      keyTokens,
      countsAll,
      tierTokens: (tier) => budgets.get(tier) ?? null,
    },
    nodeId,
    openCalls,
  )
  const nodes = watchNodes(platform, nodeId, recordOrphans)

  return {
    ledger,
    tags: [{ name: 'usage', description: 'What was used, and its cost', problems: usageProblem.catalogue }],
    routes(app: App) {
      usageRoutes(app, platform)
      callRoutes(app, platform)
    },
    /** For the user's full export. */
    collect: async (db: Db, userId: string) => ({ usage: await listRecords(db, userId) }),
    erase: (tx: Db, userId: string) => eraseUsage(tx, userId),
    async open() {
      if (countsAll) await recountBudgets(platform.db, platform.clock.now().slice(0, 7))
      // Before the notes of the process that left it there become records of a crash.
      await ledger.start()
      await nodes.start()
      openCalls.start()
    },
    async close() {
      openCalls.stop()
      await ledger.close()
      await nodes.stop()
    },
  }
}
