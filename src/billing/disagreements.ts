/**
 * Compares subscriptions, purchases, payments, refunds, disputes and invoices with the processor.
 * Only reads: the report is for the operator, and reconciliation repairs what differs.
 */
import { DAY_MS, plus } from '#platform/clock.ts'
import { listRecentUsers } from './accounts.ts'
import { type Disagreement, findDisagreements } from './money/proof.ts'
import { type ReconcilerDeps, runInBatches } from './reconciliation.ts'
import { compareUser } from './sync.ts'

export type { Disagreement } from './money/proof.ts'

export type DisagreementReport = {
  disagreements: Disagreement[]
  /** Number of accounts compared, starting with the most recently read. */
  accounts: number
  /** False when the limits cut the report short. */
  is_whole: boolean
}

const ACCOUNTS_MAX = 500
const FOUND_MAX = 200
const MONEY_MS = 30 * DAY_MS

/**
 * Compares the last 30 days of money and up to 500 accounts.
 * @throws when the processor cannot be reached.
 */
export async function findAllDisagreements(deps: ReconcilerDeps): Promise<DisagreementReport> {
  const users = await listRecentUsers(deps.db, ACCOUNTS_MAX + 1)
  const compared = await runInBatches(users.slice(0, ACCOUNTS_MAX), (userId) =>
    compareUser(deps, userId),
  )
  const disagreements: Disagreement[] = []
  for (const outcome of compared) {
    if (outcome.status === 'rejected') throw outcome.reason
    if (outcome.value) disagreements.push(outcome.value)
  }
  for await (const { repair, ...found } of findDisagreements(
    deps,
    plus(deps.clock.now(), -MONEY_MS),
  )) {
    if (disagreements.length >= FOUND_MAX)
      return { disagreements, accounts: compared.length, is_whole: false }
    disagreements.push(found)
  }
  return { disagreements, accounts: compared.length, is_whole: users.length <= ACCOUNTS_MAX }
}
