/** The ways to the processor's hosted pages: checkout for a plan, and the portal. */
import { findUser, type User } from '#identity/users.ts'
import { Problem } from '#platform/problem.ts'
import { noteCheckout } from './accounts.ts'
import { customerFor, loseCustomer } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { asking, isMissingCustomer, type Processor, requireProcessor } from './processor.ts'

/** @throws Problem 400 `Unknown price`, 503 `Billing is not configured`, 502 or 503 when the processor does not answer. */
export async function openCheckout(deps: BillingDeps, userId: string, priceId: string): Promise<string> {
  const processor = requireProcessor(deps.processor)
  if (!deps.config.processor.prices.has(priceId)) throw new Problem('unknown_price', 400, 'Unknown price')
  await noteCheckout(deps, userId)
  return asking(
    withCustomer(deps, processor, userId, async (customer) => {
      const session = await processor.checkout.sessions.create({
        mode: 'subscription',
        customer,
        client_reference_id: userId,
        line_items: [{ price: priceId, quantity: 1 }],
        allow_promotion_codes: true,
        metadata: { user_id: userId, price_id: priceId },
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
  const user = await callerUser(deps, userId)
  const customer = user.processor_customer_id
  if (!customer) throw noAccount()
  const opening = async () => {
    await customerFor(deps, processor, user)
    return processor.billingPortal.sessions.create({ customer, return_url: `${deps.config.urls.frontend}/dashboard` })
  }
  const session = opening().catch(async (error: unknown) => {
    if (!isMissingCustomer(error)) throw error
    await loseCustomer(deps, userId, customer)
    throw noAccount()
  })
  return (await asking(session)).url
}

const noAccount = () => new Problem('no_billing_account', 400, 'No billing account found')

/** A customer that was deleted at the processor is replaced, once. */
async function withCustomer<T>(
  deps: BillingDeps,
  processor: Processor,
  userId: string,
  work: (customerId: string) => Promise<T>,
): Promise<T> {
  const user = await callerUser(deps, userId)
  try {
    return await work(await customerFor(deps, processor, user))
  } catch (error) {
    const customer = user.processor_customer_id
    if (customer === null || !isMissingCustomer(error)) throw error
    deps.log.warn({ userId, customer }, 'the processor knows this customer no more; another is made')
    await loseCustomer(deps, userId, customer)
    return work(await customerFor(deps, processor, await callerUser(deps, userId)))
  }
}

async function callerUser({ db }: BillingDeps, userId: string): Promise<User> {
  const user = await findUser(db, userId)
  if (!user) throw new Problem('unauthenticated', 401, 'Could not validate credentials')
  return user
}

function addressOf(session: { id: string; url: string | null }): string {
  if (!session.url) throw new Error(`the processor made checkout ${session.id} without an address`)
  return session.url
}
