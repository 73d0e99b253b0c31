/**
 * Where we and the processor say different things: of users' subscriptions, purchases, payments, refunds, disputes and invoices. Reads only;
 * what it finds is for a person to see, and for the reconciliation to mend.
 */
import { DAY_MS, plus } from '#platform/clock.ts'
import { listRecentUsers } from './accounts.ts'
import { type Disagreement, findDisagreements } from './money/proof.ts'
import { inBatches, type ReconcilerDeps } from './reconciliation.ts'
import { compareUser } from './sync.ts'

export type { Disagreement } from './money/proof.ts'

export type DisagreementReport = {
  disagreements: Disagreement[]
  /** How many accounts were compared, the most recently read first. */
  accounts: number
  /** False when there is more than was looked at. */
  is_whole: boolean
}

const ACCOUNTS_MAX = 500
const FOUND_MAX = 200
const MONEY_MS = 30 * DAY_MS

/** The last 30 days of money, and up to 500 accounts. @throws when the processor cannot be asked. */
export async function findAllDisagreements(deps: ReconcilerDeps): Promise<DisagreementReport> {
  const users = await listRecentUsers(deps.db, ACCOUNTS_MAX + 1)
  const compared = await inBatches(users.slice(0, ACCOUNTS_MAX), (userId) =>
    compareUser(deps, userId),
  )
  const disagreements: Disagreement[] = []
  for (const outcome of compared) {
    if (outcome.status === 'rejected') throw outcome.reason
    if (outcome.value) disagreements.push(outcome.value)
  }
  for await (const { mend, ...found } of findDisagreements(
    deps,
    plus(deps.clock.now(), -MONEY_MS),
  )) {
    if (disagreements.length >= FOUND_MAX)
      return { disagreements, accounts: compared.length, is_whole: false }
    disagreements.push(found)
  }
  return { disagreements, accounts: compared.length, is_whole: users.length <= ACCOUNTS_MAX }
}
