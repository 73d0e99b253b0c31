/**
 * One trial for each person, identified by account, normalised address, and card or bank account.
 * The first two are checked before a checkout opens. The card is known once the trial begins; a
 * reused card ends the trial at once, uncharged. Only keyed hashes are stored.
 */
import type { CataloguePlan } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { trialRefusedEmail } from '#mail/billing-emails.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { type Account, toInstant } from './accounts.ts'
import { CANCEL_JOB } from './cancellations.ts'
import { markSent, sendNotice } from './notices.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

type Marker = Pick<Platform, 'secrets'>

/** Returns the days of trial for a checkout of the plan; 0 for none. */
export async function computeTrialDays(
  { db, secrets }: Pick<Platform, 'db'> & Marker,
  plan: Pick<CataloguePlan, 'trialDays'>,
  { user, account }: { user: User; account: Account | null },
): Promise<number> {
  if (plan.trialDays === 0) return 0
  return (await isTrialAvailable({ db, secrets }, { user, account })) ? plan.trialDays : 0
}

/**
 * Returns true for users who never subscribed and whose address had no trial under another account.
 */
export async function isTrialAvailable(
  { db, secrets }: Pick<Platform, 'db'> & Marker,
  { user, account }: { user: User; account: Account | null },
): Promise<boolean> {
  if (account?.subscription_id) return false
  const claimed = await findClaims(db, [hashAddress({ secrets }, user.email)])
  return claimed.length === 0
}

/**
 * Claims address and card for each trial that began, oldest first, and cancels repeated trials;
 * returns the cancelled ones. Requires the account's lock. Of two accounts with one card, the first
 * to be written gets the trial.
 */
export async function claimTrials(
  deps: Pick<Platform, 'config' | 'jobs' | 'clock' | 'secrets'>,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
): Promise<Set<string>> {
  const ended = new Set<string>()
  const trials = subscriptions.filter(
    ({ status, details }) => status === 'trialing' && details?.isFirstTrial,
  )
  if (trials.length === 0) return ended
  const user = await findUser(tx, userId)
  for (const trial of [...trials].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))) {
    if (!user || (await claimTrial(deps, tx, user, trial))) continue
    ended.add(trial.id)
    await deps.jobs.enqueue(
      tx,
      CANCEL_JOB,
      { subscriptionId: trial.id },
      { key: `${CANCEL_JOB}:${trial.id}` },
    )
    await sendNotice(
      deps,
      tx,
      userId,
      `trial_refused:${trial.id}`,
      trialRefusedEmail(deps.config, { user }),
    )
    // This email replaces the one about the end.
    await markSent(deps, tx, userId, `ended:${trial.id}`)
  }
  return ended
}

async function claimTrial(
  { secrets }: Marker,
  tx: Db,
  user: User,
  trial: SubscriptionFacts,
): Promise<boolean> {
  const { id, details, created } = trial
  const fingerprint = details?.card?.fingerprint
  const marks = [
    hashAddress({ secrets }, user.email),
    ...(fingerprint ? [hashCard({ secrets }, fingerprint)] : []),
  ]
  const own = await tx
    .selectFrom('trial_marks')
    .select('mark')
    .where('subscription_id', '=', id)
    .execute()
  // After address and card are claimed, another card in the same trial changes nothing.
  if (own.length > 1 || (own.length > 0 && !fingerprint)) return true
  const missing = own.length === 0 ? marks : marks.slice(1)
  const claimed = await findClaims(tx, missing)
  if (claimed.some((other) => other !== id)) return false
  const written = await tx
    .insertInto('trial_marks')
    .values(missing.map((mark) => ({ mark, subscription_id: id, begun_at: toInstant(created) })))
    .onConflict((conflict) => conflict.column('mark').doNothing())
    .returning('mark')
    .execute()
  if (written.length === missing.length) return true
  await tx.deleteFrom('trial_marks').where('subscription_id', '=', id).execute()
  return false
}

async function findClaims(db: Db, marks: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('trial_marks')
    .select('subscription_id')
    .where('mark', 'in', marks)
    .execute()
  return rows.map(({ subscription_id }) => subscription_id)
}

const hashAddress = ({ secrets }: Marker, email: string) =>
  secrets.hash('trial-address', normalizeAddress(email))
const hashCard = ({ secrets }: Marker, fingerprint: string) =>
  secrets.hash('trial-card', fingerprint)

const WITHOUT_DOTS = ['gmail.com', 'googlemail.com']

/** Maps all addresses of one mailbox to one: `A.da+shop@googlemail.com` becomes `ada@gmail.com`. */
export function normalizeAddress(email: string): string {
  const lowered = email.trim().toLowerCase()
  const cut = lowered.lastIndexOf('@')
  const domain = lowered.slice(cut + 1)
  const [name = ''] = lowered.slice(0, cut).split('+')
  if (!WITHOUT_DOTS.includes(domain)) return `${name}@${domain}`
  return `${name.replaceAll('.', '')}@${WITHOUT_DOTS[0]}`
}
