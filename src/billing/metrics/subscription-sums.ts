/** Sums and lists of the changes of subscriptions, for the operator's metrics. */
import '../tables.ts'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { SubscriptionChange } from './subscription-changes.ts'

/** UTC days, both included. */
export type DaySpan = { from: string; to: string }

export const CHANGE_KINDS = [
  'new',
  'expansion',
  'contraction',
  'churned',
  'trial_started',
  'trial_converted',
  'trial_ended',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** A converted trial is also a new subscription. */
const CONDITIONS: Record<ChangeKind, RawBuilder<boolean>> = {
  new: sql`before_state <> 'paid' and after_state = 'paid'`,
  expansion: sql`before_state = 'paid' and after_state = 'paid' and after_cents > before_cents`,
  contraction: sql`before_state = 'paid' and after_state = 'paid' and after_cents < before_cents`,
  churned: sql`before_state = 'paid' and after_state <> 'paid'`,
  trial_started: sql`before_state <> 'trial' and after_state = 'trial'`,
  trial_converted: sql`before_state = 'trial' and after_state = 'paid'`,
  trial_ended: sql`before_state = 'trial' and after_state = 'none'`,
}

/** Sums of a day and currency. Amounts are monthly recurring revenue in minor units. */
export type DayOfChanges = {
  day: string
  currency: string
  new_cents: number
  expansion_cents: number
  contraction_cents: number
  churned_cents: number
  new_accounts: number
  churned_accounts: number
  /** Trials that began, less those that ended in any way. */
  trials: number
  trials_converted: number
  trials_ended: number
}

export async function sumChangesByDay(db: Db, { from, to }: DaySpan): Promise<DayOfChanges[]> {
  const rows = await db
    .selectFrom('subscription_changes')
    .select(['day', 'currency', ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(['day', 'currency'])
    .execute()
  return rows
}

/** Returns the sums of all days before a day, by currency: the state at its start. */
export async function sumEarlierChanges(db: Db, day: string): Promise<Omit<DayOfChanges, 'day'>[]> {
  const rows = await db
    .selectFrom('subscription_changes')
    .select(['currency', ...SUMS])
    .where('day', '<', day)
    .groupBy('currency')
    .execute()
  return rows
}

const count = (kind: ChangeKind) =>
  sql<number>`coalesce(sum(case when ${CONDITIONS[kind]} then 1 else 0 end), 0)`
const change = (kind: ChangeKind) =>
  sql<number>`coalesce(sum(case when ${CONDITIONS[kind]} then abs(after_cents - before_cents) else 0 end), 0)`

const SUMS = [
  change('new').as('new_cents'),
  change('expansion').as('expansion_cents'),
  change('contraction').as('contraction_cents'),
  change('churned').as('churned_cents'),
  count('new').as('new_accounts'),
  count('churned').as('churned_accounts'),
  sql<number>`coalesce(sum(case after_state when 'trial' then 1 else 0 end)
    - sum(case before_state when 'trial' then 1 else 0 end), 0)`.as('trials'),
  count('trial_converted').as('trials_converted'),
  count('trial_ended').as('trials_ended'),
]

export type ListedChange = SubscriptionChange & { kind: ChangeKind }

/** The position of a row in the list. */
export type ChangePlace = Pick<SubscriptionChange, 'day' | 'owner' | 'currency'>

/**
 * Lists at most `limit` changes after a place, newest first; without a kind, all of them.
 */
export async function listSubscriptionChanges(
  db: Db,
  { from, to }: DaySpan,
  {
    kind,
    after,
    limit,
  }: { kind: ChangeKind | undefined; after: ChangePlace | null; limit: number },
): Promise<ListedChange[]> {
  const rows = await db
    .selectFrom('subscription_changes')
    .selectAll()
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(kind !== undefined, (query) => query.where(CONDITIONS[kind ?? 'new']))
    .$if(after !== null, (query) =>
      query.where((e) =>
        e(
          e.refTuple('day', 'owner', 'currency'),
          '<',
          e.tuple(after?.day ?? '', after?.owner ?? '', after?.currency ?? ''),
        ),
      ),
    )
    .orderBy('day', 'desc')
    .orderBy('owner', 'desc')
    .orderBy('currency', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, kind: kind ?? nameKind(row) }))
}

function nameKind({
  before_state,
  before_cents,
  after_state,
  after_cents,
}: SubscriptionChange): ChangeKind {
  if (before_state === 'trial') return after_state === 'paid' ? 'trial_converted' : 'trial_ended'
  if (before_state !== 'paid') return after_state === 'paid' ? 'new' : 'trial_started'
  if (after_state !== 'paid') return 'churned'
  return after_cents > before_cents ? 'expansion' : 'contraction'
}
