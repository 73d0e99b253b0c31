/** Consent to offers by email: opt-in, and withdrawn by a link that needs no sign-in (RFC 8058). */
import './tables.ts'
import { timingSafeEqual } from 'node:crypto'
import { findUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { lockAccount, updateAccount } from './accounts.ts'
import { billingProblem } from './problems.ts'

/** Signs a user id for the unsubscribe link. The link only ends offers, so it never expires. */
const signUserId = ({ secrets }: Pick<Platform, 'secrets'>, userId: string) =>
  secrets.hash('offers', userId)

/** Links for people and for the unsubscribe button of their mail client. */
export function buildUnsubscribeLinks(deps: Pick<Platform, 'config' | 'secrets'>, userId: string) {
  const { base, frontend } = deps.config.urls
  const token = `${userId}.${signUserId(deps, userId)}`
  return {
    unsubscribePage: `${frontend}/unsubscribe?token=${token}`,
    unsubscribeUrl: `${base}/api/billing/offers/unsubscribe?token=${token}`,
  }
}

/** @throws Problem 400 `Invalid unsubscribe link` */
export async function unsubscribe(
  deps: Pick<Platform, 'db' | 'secrets' | 'clock'>,
  token: string,
): Promise<void> {
  const [userId = '', mark = ''] = token.split('.')
  const [given, wanted] = [Buffer.from(mark), Buffer.from(signUserId(deps, userId))]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    throw billingProblem('invalid_unsubscribe_link')
  // Deleted users get no offers anyway.
  if (await findUser(deps.db, userId)) await setOffers(deps, userId, false)
}

export async function setOffers(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  userId: string,
  wants: boolean,
): Promise<void> {
  await transaction(db, async (tx) => {
    const account = await lockAccount(tx, userId)
    if (wants === (account.offers_at !== null)) return
    await updateAccount(tx, userId, { offers_at: wants ? clock.now() : null })
  })
}
