/** The mails that follow on a purchase. Both are jobs: they read the purchase when their turn comes, and hand one message over. */
import { withTimeout } from '#billing/processor.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { findUser } from '#identity/users.ts'
import type { Mail } from '#mail/mail.ts'
import { findInvoiceUrl, findPayer, type PaymentDeps } from '../payments/payments.ts'
import { paidTwiceEmail, purchaseEmail } from './emails.ts'
import { openLicenseKey } from './purchases.ts'
import * as store from './store.ts'

type Deps = PaymentDeps & { mail: Mail }

export async function confirmPurchase(
  deps: Deps,
  purchaseId: string,
  messageId: string,
): Promise<void> {
  const { config, db, secrets, mail, log } = deps
  const purchase = await store.findById(db, purchaseId)
  if (!purchase) return
  const user = purchase.user_id === null ? null : await findUser(db, purchase.user_id)
  // An account deleted while its payment was on its way: who paid gets what they paid for.
  const to = user?.email ?? (await findPayer(deps, purchase))
  if (!to) return log.error({ purchase: purchase.id }, 'a purchase has nobody to send its key to')
  const invoiceUrl = await readInvoiceUrl(deps, purchase)
  const email = purchaseEmail(config, to, purchase, {
    licenseKey: openLicenseKey(secrets, purchase),
    invoiceUrl,
  })
  await mail.deliver(email, messageId)
}

/** Null where the sale has no invoice, or the processor does not answer: the key is not held up for it. */
function readInvoiceUrl(deps: Deps, purchase: store.PurchaseRow): Promise<string | null> {
  return withTimeout(findInvoiceUrl(deps, purchase)).catch((error) => {
    deps.log.warn(
      { err: error, purchase: purchase.id },
      'a purchase is confirmed without the link to its invoice',
    )
    return null
  })
}

/** A buyer who paid for a tier that they own wants one of the payments back: only the operator can say which. */
export async function reportPaidTwice(
  { config, db, mail }: Pick<Deps, 'config' | 'db' | 'mail'>,
  { userId, tier }: { userId: string; tier: Tier },
  messageId: string,
): Promise<void> {
  const user = await findUser(db, userId)
  const [newest, ...others] = await store.listOwned(db, userId, tier)
  if (!user || !newest || others.length === 0) return
  await mail.deliver(paidTwiceEmail(config, user.email, newest, others), messageId)
}
