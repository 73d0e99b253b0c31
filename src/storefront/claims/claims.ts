/**
 * How a guest's purchase comes into an account. Anyone can enter any address at the payment page, so
 * only a link that was mailed to the address, and works once, moves anything.
 *
 * An account that only purchases have created has no holder. There, the link also proves the
 * address and signs in. Any other account has a holder, whom the link does not prove: it needs their
 * session, too. If the holder had verified the address before the purchase, their session is enough.
 */
import { recordAudit } from '#audit/audit.ts'
import { lockPayment, updatePayment } from '#billing/money/payments.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { findOrCreateGuest, recordGuest } from '#identity/account/guest-accounts.ts'
import { issueToken, peekToken, spendToken } from '#identity/one-time-tokens.ts'
import { claimAccount, isUnclaimed } from '#identity/unclaimed-accounts.ts'
import { emailKey, findUser, findUserByEmail, lockUser, type User } from '#identity/users.ts'
import { type Db, isUniqueViolation, transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import * as activationStore from '../licences/store.ts'
import { storefrontProblem } from '../problems.ts'
import type { Claimable } from '../purchases/emails.ts'
import { giveFree } from '../purchases/give-free.ts'
import type { PurchaseDeps } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'

export type ClaimDeps = PurchaseDeps

/** A guest's purchase, or a free product that the owner of the address gets. */
type Claim = { purchaseId: string; email: string } | FreeClaim
type FreeClaim = { tier: Tier; email: string; locale: Locale | null }

/** Returns what is left to claim of a purchase by the owner of the address; null: nothing. */
export async function findClaimable(
  db: Db,
  purchase: PurchaseRow,
  user: User,
): Promise<Claimable | null> {
  if (purchaseStore.isMember(purchase)) return null
  if (purchase.claimant_id === user.id) return 'purchase'
  return purchase.user_id === user.id && (await isUnclaimed(db, user)) ? 'account' : null
}

/** Creates the address of the claim page, for an email to the user. */
export async function issueClaim(
  deps: Pick<ClaimDeps, 'config' | 'db' | 'clock' | 'secrets'>,
  purchase: PurchaseRow,
  user: User,
): Promise<string> {
  const claim: Claim = { purchaseId: purchase.id, email: user.email }
  const token = await issueToken(deps, deps.db, 'claim', user.id, claim)
  return `${deps.config.urls.storefront}/claim?${new URLSearchParams({ token })}`
}

/** Like `issueClaim`. The account is created with the first use of the link, if there is none. */
export async function issueFreeClaim(
  deps: Pick<ClaimDeps, 'config' | 'clock' | 'secrets'>,
  tx: Db,
  claim: FreeClaim,
): Promise<string> {
  const token = await issueToken(deps, tx, 'claim', null, claim)
  return `${deps.config.urls.storefront}/claim?${new URLSearchParams({ token })}`
}

/** Returns what an open link is for, without spending it. @throws Problem 400 */
export async function readClaim(
  deps: Pick<ClaimDeps, 'db' | 'clock' | 'secrets'>,
  token: string,
): Promise<{ email: string; claimable: Claimable }> {
  const { user, claim } = await requireClaim(deps, deps.db, token)
  const isNew = user === null || (await isUnclaimed(deps.db, user))
  return { email: user?.email ?? claim.email, claimable: isNew ? 'account' : 'purchase' }
}

/**
 * Spends a link. `isSignIn`: the account had no holder, so its reader signs in with it.
 * @param callerId The user of the session that follows the link. @throws Problem 400, 401 and 403
 */
export async function claimPurchase(
  deps: ClaimDeps,
  token: string,
  callerId: string | null,
): Promise<{ user: User; isSignIn: boolean }> {
  const claimOnce = () => transaction(deps.db, (tx) => spendClaim(deps, tx, token, callerId))
  return claimOnce().catch((error) => {
    // Two links to one address created the account at once. The second attempt finds it.
    if (!isUniqueViolation(error)) throw error
    return claimOnce()
  })
}

async function spendClaim(deps: ClaimDeps, tx: Db, token: string, callerId: string | null) {
  const { user, claim, isNew } = await lockClaimant(deps, tx, token)
  const isSignIn = await isUnclaimed(tx, user)
  if (!isSignIn && callerId === null) throw storefrontProblem('claim_needs_sign_in')
  // Also for a new account: a link from another person must not replace the session.
  if (callerId !== null && callerId !== user.id) throw storefrontProblem('claim_of_another_account')
  if (!(await spendToken(deps, tx, 'claim', token))) throw storefrontProblem('claim_link_invalid')

  const purchase = 'tier' in claim ? null : await purchaseStore.findById(tx, claim.purchaseId)
  if ('tier' in claim) await giveFree(deps, tx, user.id, claim.tier)
  else if (purchase?.claimant_id === user.id) await givePurchase(deps, tx, purchase, user.id)
  if (isNew) await recordGuest(deps, tx, user.id)
  return { user: isSignIn ? await claimAccount(deps, tx, user.id) : user, isSignIn }
}

/** Returns the locked account of an open link; a free product's link creates a missing one. */
async function lockClaimant(
  deps: ClaimDeps,
  tx: Db,
  token: string,
): Promise<{ user: User; claim: Claim; isNew: boolean }> {
  const { user: found, claim } = await requireClaim(deps, tx, token)
  if ('tier' in claim) {
    const { user, isNew } = await findOrCreateGuest(deps, tx, claim)
    if (!user?.is_active) throw storefrontProblem('claim_link_invalid')
    return { user, claim, isNew }
  }
  if (found === null) throw storefrontProblem('claim_link_invalid')
  // A password reset may be giving the account a holder at this moment.
  await lockUser(tx, found.id)
  const { user } = await requireClaim(deps, tx, token)
  if (user === null) throw storefrontProblem('claim_link_invalid')
  return { user, claim, isNew: false }
}

/** Lists the purchases that the session of the user may claim without the link. */
export async function listWaiting(db: Db, userId: string): Promise<PurchaseRow[]> {
  const rows = await purchaseStore.listClaimable(db, userId)
  return rows.filter((row) => row.is_claimant_proven && !purchaseStore.isEnded(row))
}

/** Claims a purchase of `listWaiting`. @throws Problem 404 `purchase_not_found` */
export async function claimWaiting(deps: ClaimDeps, userId: string, id: string): Promise<void> {
  await transaction(deps.db, async (tx) => {
    await lockUser(tx, userId)
    const purchase = (await listWaiting(tx, userId)).find((row) => row.id === id)
    if (!purchase) throw storefrontProblem('purchase_not_found')
    await givePurchase(deps, tx, purchase, userId)
  })
}

/** Returns the account of an open link; null for a free product's new address. @throws Problem 400 */
async function requireClaim(
  deps: Pick<ClaimDeps, 'clock' | 'secrets'>,
  db: Db,
  token: string,
): Promise<{ user: User | null; claim: Claim }> {
  const known = await peekToken<Claim>(deps, db, 'claim', token)
  if (known?.state === 'open' && 'tier' in known.data) {
    const user = await findUserByEmail(db, known.data.email)
    if (user && !user.is_active) throw storefrontProblem('claim_link_invalid')
    return { user, claim: known.data }
  }
  const user = known?.state === 'open' && known.userId ? await findUser(db, known.userId) : null
  // A link ends with a change of the account's address.
  if (!known || !user?.is_active || emailKey(known.data.email) !== user.email_key)
    throw storefrontProblem('claim_link_invalid')
  return { user, claim: known.data }
}

async function givePurchase(
  { clock, business }: ClaimDeps,
  tx: Db,
  found: PurchaseRow,
  userId: string,
): Promise<void> {
  const now = clock.now()
  const payment = await lockPayment(tx, found.payment_ref, now)
  // The lock makes a simultaneous refund visible.
  for (const part of [found, ...(await purchaseStore.listMembers(tx, found))]) {
    for (const purchase of await purchaseStore.lockChain(tx, part)) {
      await purchaseStore.giveToUser(tx, purchase, userId)
    }
    await activationStore.giveToUser(tx, part, userId)
  }
  await updatePayment({ business }, tx, payment, { user_id: userId })
  await recordAudit(tx, {
    actorId: userId,
    action: 'purchase.claimed',
    subject: `purchase:${found.id}`,
    data: { tier: found.tier },
    at: now,
  })
}
