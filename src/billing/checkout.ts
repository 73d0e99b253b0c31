/** The ways to the processor's hosted pages: checkout for a plan, and the portal. */
import { findUser, type User } from '#identity/users.ts'
import { unauthenticated } from '#platform/problems.ts'
import { noteCheckout } from './accounts.ts'
import { customerFor, dropCustomer, readCustomerState } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { billingProblem } from './problems.ts'
import { asking, isMissingCustomer, requireProcessor } from './processor.ts'
import { taxParameters } from './tax.ts'

/** @throws Problem 400 `Unknown price`, 503 `Billing is not configured`, 502 or 503 when the processor does not answer. */
export async function openCheckout(deps: BillingDeps, userId: string, priceId: string): Promise<string> {
  const processor = requireProcessor(deps.processor)
  if (!deps.config.processor.prices.has(priceId)) throw billingProblem('unknown_price')
  await noteCheckout(deps, userId)
  return asking(
    withCustomer(deps, userId, async (user) => {
      const session = await processor.checkout.sessions.create({
        mode: 'subscription',
        customer: await customerFor(deps, processor, user),
        client_reference_id: userId,
        line_items: [{ price: priceId, quantity: 1 }],
        allow_promotion_codes: true,
        metadata: { user_id: userId, price_id: priceId },
        ...taxParameters(deps.config.processor, { mode: 'subscription', hasCustomer: true, metadata: {} }),
        subscription_data: { metadata: { user_id: userId } },
        success_url: `${deps.config.urls.frontend}/dashboard?success=true`,
        cancel_url: `${deps.config.urls.frontend}/pricing?canceled=true`,
      })
      return addressOf(session)
    }),
  )
}

/** @throws Problem 400 `No billing account found`, 503 `Billing is not configured`. */
export async function openPortal(deps: BillingDeps, userId: string): Promise<string> {
  const processor = requireProcessor(deps.processor)
  const opening = withCustomer(deps, userId, async (user) => {
    if (user.processor_customer_id === null) throw billingProblem('no_billing_account')
    const customer = await customerFor(deps, processor, user)
    return processor.billingPortal.sessions.create({ customer, return_url: `${deps.config.urls.frontend}/dashboard` })
  })
  return (await asking(opening)).url
}

const CUSTOMERS_TRIED_MAX = 5

/** A customer that the processor refuses makes room for another of the user, or for a new one. */
async function withCustomer<T>(deps: BillingDeps, userId: string, work: (user: User) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const user = await callerUser(deps, userId)
    const customer = user.processor_customer_id
    try {
      return await work(user)
    } catch (error) {
      if (customer === null || !isMissingCustomer(error) || tries === CUSTOMERS_TRIED_MAX) throw error
      const found = await readCustomerState(deps, customer)
      deps.log.warn({ userId, customer, found }, 'the processor refuses this customer; another takes its place')
      await dropCustomer(deps, userId, customer, found === 'deleted' ? 'deleted' : 'refused')
    }
  }
}

async function callerUser({ db }: BillingDeps, userId: string): Promise<User> {
  const user = await findUser(db, userId)
  if (!user) throw unauthenticated()
  return user
}

function addressOf(session: { id: string; url: string | null }): string {
  if (!session.url) throw new Error(`the processor made checkout ${session.id} without an address`)
  return session.url
}
