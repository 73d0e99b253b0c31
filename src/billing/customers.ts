/** One customer of the processor for one user, however many tabs press the button at once. */
import { createHash } from 'node:crypto'
import { setProcessorCustomer } from '#identity/subscription.ts'
import { findUser, type User } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { findAccount, lockAccount, updateAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import type { Processor } from './processor.ts'

/**
 * The user's customer id, made from name and address where there is none.
 * The idempotency key makes concurrent calls one customer at the processor, the row lock makes it one here.
 */
export async function customerFor(deps: BillingDeps, processor: Processor, user: User): Promise<string> {
  if (user.processor_customer_id) {
    await followAddress(deps, processor, user, user.processor_customer_id)
    return user.processor_customer_id
  }
  const { customer_generation: generation = 0 } = (await findAccount(deps.db, user.id)) ?? {}
  const person = {
    email: user.email,
    ...(user.full_name ? { name: user.full_name } : {}),
    metadata: { user_id: user.id },
  }
  const fingerprint = createHash('sha256').update(JSON.stringify(person)).digest('hex').slice(0, 16)
  const idempotencyKey = `customer-${user.id}-${generation}-${fingerprint}`
  const made = await processor.customers.create(person, { idempotencyKey })
  return adoptCustomer(deps, user.id, made.id, { replace: false, email: user.email })
}

/**
 * Receipts go to the account's address, also after it has changed. An address that the customer set in the portal stays
 * until then: only a change here is passed on.
 */
async function followAddress(deps: BillingDeps, processor: Processor, user: User, customerId: string): Promise<void> {
  const account = await findAccount(deps.db, user.id)
  if (!account?.customer_email || account.customer_email === user.email) return
  await processor.customers.update(customerId, { email: user.email })
  await updateAccount(deps.db, user.id, { customer_email: user.email })
}

/** Ties the customer to the user; without `replace`, the one that is there already stays. Returns the one that counts. */
export async function adoptCustomer(
  deps: BillingDeps,
  userId: string,
  customerId: string,
  { replace, email }: { replace: boolean; email?: string },
): Promise<string> {
  return transaction(deps.db, async (tx) => {
    await lockAccount(tx, userId)
    const user = await findUser(tx, userId)
    const known = user?.processor_customer_id ?? null
    if (!user || (known !== null && !replace)) return known ?? customerId
    await updateAccount(tx, userId, { customer_id: customerId, customer_email: email ?? null })
    await setProcessorCustomer(tx, userId, customerId)
    return customerId
  })
}

/** The processor has deleted the customer: the next checkout makes another. */
export async function loseCustomer(deps: BillingDeps, userId: string, customerId: string): Promise<void> {
  await transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, userId)
    const user = await findUser(tx, userId)
    if (user?.processor_customer_id !== customerId) return
    await updateAccount(tx, userId, { customer_id: null, customer_generation: account.customer_generation + 1 })
    await setProcessorCustomer(tx, userId, null)
  })
}
