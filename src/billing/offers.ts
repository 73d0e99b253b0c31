/** Whether a user wants offers by mail: asked for, never assumed, and ended by a link that needs no sign-in (RFC 8058). */
import './tables.ts'
import { timingSafeEqual } from 'node:crypto'
import { findUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { lockAccount, updateAccount } from './accounts.ts'
import { billingProblem } from './problems.ts'

/** Names a user, and can be made by nobody else. It ends nothing but offers, so it needs no end of its own. */
const signUserId = ({ secrets }: Pick<Platform, 'secrets'>, userId: string) =>
  secrets.hash('offers', userId)

/** For people, and for the button of their mail program. */
export function unsubscribeLinks(deps: Pick<Platform, 'config' | 'secrets'>, userId: string) {
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
  // Who is gone gets none, either.
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
