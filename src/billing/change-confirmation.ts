/**
 * A change by the operator that the customer's bank must confirm. Only the customer can, so they get
 * a checkout of the new plan by email. Paid, it replaces the current plan.
 */
import { findUser } from '#identity/users.ts'
import { changeConfirmEmail } from '#mail/billing-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import { openCheckout } from './checkout.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { billingProblem } from './problems.ts'

/** @throws Problem as `openCheckout` */
export async function emailChangeConfirmation(
  deps: BillingDeps,
  userId: string,
  priceId: string,
): Promise<void> {
  const tier = (await readPrices(deps, deps.db, userId)).get(priceId)?.tier
  const plan = deps.config.catalogue.plans.find((one) => one.tier === tier)
  if (!plan) throw billingProblem('unknown_price')
  const url = await openCheckout(deps, userId, { priceId })
  await transaction(deps.db, async (tx) => {
    const user = await findUser(tx, userId)
    const email = user && changeConfirmEmail(deps.config, { user, plan: plan.name, url })
    if (email) await sendMail(deps, tx, email)
  })
}
