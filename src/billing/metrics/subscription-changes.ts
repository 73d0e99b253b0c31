/**
 * Records how each account's subscription changed, one row for each account, day and currency.
 * Reconciliation calls it hourly. Until a day is over, its rows are written anew, so runs can repeat.
 */
import '../tables.ts'
import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { type Db, findDialect, forUpdate, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Account } from '../accounts.ts'
import { moveCursor } from '../cursors.ts'
import type { CountedState, SubscriptionChangesTable } from '../tables.ts'
import { computeMonthlyRevenue } from './monthly-revenue.ts'

export type SubscriptionChange = Selectable<SubscriptionChangesTable>

const CURSOR = 'subscription-changes'
/** Rows of one statement; each row has eight parameters. */
const BATCH = 500

/** The state of an account in one currency. */
type Counted = {
  owner: string
  currency: string
  tier: string | null
  state: CountedState
  cents: number
}

type ReadAccount = Pick<Account, (typeof COLUMNS)[number]>

const COLUMNS = [
  'user_id',
  'processor_status',
  'is_grace_over',
  'ended_at',
  'price_cents',
  'currency',
  'interval',
  'granted_tier',
  'subscription_created_at',
  'trial_end_at',
] as const

/** Compares all accounts with their last recorded state and writes the differences. */
export async function recordSubscriptionChanges({
  db,
  clock,
}: Pick<Platform, 'db' | 'clock'>): Promise<void> {
  const now = clock.now()
  const today = now.slice(0, 10)
  await transaction(db, async (tx) => {
    const last = await lockLastRun(tx)
    if (last !== null && last > now) return
    const changes = findChanges(await readLastStates(tx, today), await readAccounts(tx), {
      today,
      lastDay: last?.slice(0, 10) ?? null,
    })
    await tx.deleteFrom('subscription_changes').where('day', '=', today).execute()
    for (let index = 0; index < changes.length; index += BATCH) {
      await tx
        .insertInto('subscription_changes')
        .values(changes.slice(index, index + BATCH))
        .execute()
    }
    await moveCursor(tx, CURSOR, now)
  })
}

const NEVER = '1970-01-01T00:00:00.000Z'

/** Locks the cursor, so that nodes run one after the other. Returns null before the first run. */
async function lockLastRun(tx: Db): Promise<Instant | null> {
  await tx
    .insertInto('billing_cursors')
    .values({ name: CURSOR, reached_at: NEVER })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = tx.selectFrom('billing_cursors').select('reached_at').where('name', '=', CURSOR)
  const { reached_at } = await forUpdate(tx, row).executeTakeFirstOrThrow()
  return reached_at === NEVER ? null : reached_at
}

async function readAccounts(db: Db): Promise<ReadAccount[]> {
  return db
    .selectFrom('billing_accounts')
    .select(COLUMNS)
    .where('subscription_id', 'is not', null)
    .execute()
}

/** Returns the last states before a day, without ended subscriptions. */
async function readLastStates(db: Db, today: string): Promise<Counted[]> {
  const { rows } = await sql<Counted>`
    select owner, currency, tier, after_state as state, after_cents as cents from (
      select *, row_number() over (partition by owner, currency order by day desc) as place
      from subscription_changes where day < ${today}) as latest
    where place = 1 and after_state <> 'none'`.execute(db)
  return rows
}

type Days = { today: string; lastDay: string | null }

function findChanges(
  before: readonly Counted[],
  accounts: readonly ReadAccount[],
  days: Days,
): SubscriptionChange[] {
  const byOwner = new Map(accounts.map((account) => [account.user_id, account]))
  const now = accounts.flatMap((account) => countAccount(account) ?? [])
  const earlier = new Map(before.map((counted) => [nameCounted(counted), counted]))
  const later = new Map(now.map((counted) => [nameCounted(counted), counted]))
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((name) => {
    const [was, is] = [earlier.get(name), later.get(name)]
    const { owner, currency, tier } = (is ?? was) as Counted
    if (was?.state === is?.state && was?.cents === is?.cents) return []
    const change: SubscriptionChange = {
      owner,
      day: days.today,
      currency,
      tier,
      before_state: was?.state ?? 'none',
      before_cents: was?.cents ?? 0,
      after_state: is?.state ?? 'none',
      after_cents: is?.cents ?? 0,
    }
    return [{ ...change, day: findDay(change, byOwner.get(owner), days) }]
  })
}

const nameCounted = ({ owner, currency }: Counted) => `${owner}\n${currency}`

function countAccount(account: ReadAccount): Counted | null {
  const { user_id: owner, granted_tier: tier } = account
  const revenue = computeMonthlyRevenue(account)
  if (revenue !== null) return { owner, tier, state: 'paid', ...revenue }
  const isTrial = account.processor_status === 'trialing' && account.ended_at === null
  return isTrial
    ? { owner, tier, state: 'trial', cents: 0, currency: account.currency ?? 'usd' }
    : null
}

/**
 * Returns the day on which the change happened, when no run was on that day or later: before the
 * first run, or while the service was down. Otherwise today.
 */
function findDay(
  { before_state, after_state }: SubscriptionChange,
  account: ReadAccount | undefined,
  { today, lastDay }: Days,
): string {
  const at =
    after_state === 'none'
      ? account?.ended_at
      : before_state === 'none'
        ? account?.subscription_created_at
        : before_state === 'trial'
          ? account?.trial_end_at
          : null
  const day = at?.slice(0, 10)
  return day !== undefined && day < today && day > (lastDay ?? '') ? day : today
}

/**
 * The books keep the changes, without the person. Call it before the account's row is deleted: the
 * lock lets a run that has read the account finish first.
 */
export async function forgetSubscriber(tx: Db, userId: string): Promise<void> {
  await tx
    .selectFrom('billing_cursors')
    .select('name')
    .where('name', '=', CURSOR)
    .$if(findDialect(tx) !== 'sqlite', (query) => query.forShare())
    .execute()
  await tx
    .updateTable('subscription_changes')
    .set({ owner: randomUUID() })
    .where('owner', '=', userId)
    .execute()
}

/** Returns the user's changes for their data export. */
export function exportSubscriptionChanges(db: Db, userId: string): Promise<SubscriptionChange[]> {
  return db
    .selectFrom('subscription_changes')
    .selectAll()
    .where('owner', '=', userId)
    .orderBy('day')
    .execute()
}
