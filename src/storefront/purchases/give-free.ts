/** Records that a user has a free product: a purchase without a payment, once for each mailbox. */
import { normalizeAddress } from '#billing/trials.ts'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { findUser, lockUser, type User } from '#identity/users.ts'
import type { Db } from '#platform/db/db.ts'
import { storefrontProblem } from '../problems.ts'
import { buildPurchase, type Payment } from './new-purchase.ts'
import { enqueueDelivery, type PurchaseDeps } from './purchases.ts'
import * as store from './store.ts'

/**
 * Gives a free product to a user whose address is proven. A second call changes nothing.
 * @throws Problem 409 when another account of the mailbox has had it, or it is no longer free
 */
export async function giveFree(
  deps: PurchaseDeps,
  tx: Db,
  userId: string,
  tier: Tier,
): Promise<void> {
  await lockUser(tx, userId)
  const user = await findUser(tx, userId)
  // The link was mailed while the product was free.
  const product = deps.productList.findSold(tier)
  if (!user || !product || product.free === null) throw storefrontProblem('not_for_sale')
  const ref = store.FREE_PREFIX + hashMailbox(deps, user, tier)
  const row = buildPurchase(deps, describeGift(product, user, ref), {
    buyer: user,
    claimant: null,
    from: null,
    status: 'completed',
  })
  if (await store.insert(tx, row)) return enqueueDelivery(deps, tx, row)
  if ((await store.findByPayment(tx, ref))?.user_id !== userId)
    throw storefrontProblem('free_product_taken')
}

function hashMailbox({ secrets }: Pick<PurchaseDeps, 'secrets'>, { email }: User, tier: string) {
  return secrets.hash('free-product', `${tier}\n${normalizeAddress(email)}`)
}

const describeGift = (
  { tier, currency }: CatalogueProduct,
  { id }: User,
  ref: string,
): Payment => ({
  ref,
  checkoutSessionId: null,
  userId: id,
  guest: null,
  tier,
  fromId: null,
  members: [],
  waiver: null,
  amountCents: 0,
  taxCents: null,
  currency,
})
