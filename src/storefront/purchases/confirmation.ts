/** The emails after a purchase. Both are sent by jobs that read the purchase when they run. */
import { withTimeout } from '#billing/processor.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import type { Mail } from '#mail/mail.ts'
import { findClaimable, issueClaim } from '../claims/claims.ts'
import {
  findInvoiceUrl,
  findPayer,
  findReceiptUrl,
  type PaymentDeps,
} from '../payments/payments.ts'
import { type Bill, type ClaimLink, paidTwiceEmail, purchaseEmail } from './emails.ts'
import { readKeys } from './purchases.ts'
import * as store from './store.ts'

type Deps = PaymentDeps & { mail: Mail }

export async function confirmPurchase(
  deps: Deps,
  purchaseId: string,
  messageId: string,
): Promise<void> {
  const { db, mail, log } = deps
  const purchase = await store.findById(db, purchaseId)
  if (!purchase) return
  const user = await findUser(db, purchase.user_id ?? purchase.claimant_id ?? '')
  // If the account was deleted before the payment arrived, the payer still gets the purchase.
  const to = user ?? (await findPayer(deps, purchase))
  if (!to) return log.error({ purchase: purchase.id }, 'a purchase has nobody to send its key to')
  const bill = await readBill(deps, purchase)
  const email = purchaseEmail(deps, to, purchase, {
    ...(await readKeys(deps, db, purchase)),
    bill,
    claim: user && (await createClaimLink(deps, purchase, user)),
  })
  await mail.deliver(email, messageId)
}

async function createClaimLink(
  deps: Deps,
  purchase: store.PurchaseRow,
  user: User,
): Promise<ClaimLink | null> {
  const claimable = await findClaimable(deps.db, purchase, user)
  return claimable && { claimable, url: await issueClaim(deps, purchase, user) }
}

/**
 * Returns the invoice, or the processor's receipt where the sale has none. Null for a free sale, or
 * when the processor does not answer, because the email with the key must not wait.
 */
async function readBill(deps: Deps, purchase: store.PurchaseRow): Promise<Bill | null> {
  if (!deps.processor) return null
  const find = async (): Promise<Bill | null> => {
    const invoice = await findInvoiceUrl(deps, purchase)
    if (invoice !== null) return { name: 'Invoice', url: invoice }
    const receipt = await findReceiptUrl(deps, purchase)
    return receipt === null ? null : { name: 'Receipt', url: receipt }
  }
  return withTimeout(find()).catch((error) => {
    deps.log.warn(
      { err: error, purchase: purchase.id },
      'a purchase is confirmed without the link to its invoice',
    )
    return null
  })
}

/**
 * Informs the operator that a buyer paid twice for a tier, because only the operator can decide
 * which payment to refund.
 */
export async function reportPaidTwice(
  deps: Pick<Deps, 'config' | 'db' | 'mail' | 'productList'>,
  { userId, tier }: { userId: string; tier: Tier },
  messageId: string,
): Promise<void> {
  const { db, mail } = deps
  const user = await findUser(db, userId)
  const [newest, ...others] = await store.listOwned(db, userId, tier)
  if (!user || !newest || others.length === 0) return
  await mail.deliver(paidTwiceEmail(deps, user.email, newest, others), messageId)
}
