/**
 * The customers that a user has at the processor: one at a time as a rule, made once however many tabs press the button, and more
 * over the years, when support deletes one or a payment link makes another. All are kept; one of them is on record.
 */
import { createHash } from 'node:crypto'
import { setProcessorCustomer } from '#identity/subscription.ts'
import { findUser, type User } from '#identity/users.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, findDialect, transaction } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { batchWrites, type WriteBatcher } from '#platform/db/write-batching.ts'
import { type Account, findAccount, instantOf, lockAccount, updateAccount } from './accounts.ts'
import type { BillingEvent } from './billing-events.ts'
import type { BillingDeps } from './deps.ts'
import { number } from './object-reader.ts'
import { isAnswer, type Processor, requireProcessor, unlessMissing } from './processor.ts'
import type { BillingCustomersTable } from './tables.ts'

export type Customer = BillingCustomersTable

export function customersOf(db: Db, userId: string): Promise<Customer[]> {
  return db
    .selectFrom('billing_customers')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('customer_id')
    .execute()
}

/** Asked for each event: an embedded database answers at once, and a server's round trip is shared by those that ask meanwhile. */
export async function ownerOf(db: Db, customerId: string): Promise<string | null> {
  if (!db.isTransaction && findDialect(db) === 'postgres') return ownersAsked(db).add(customerId)
  return (await findOwner(db, customerId))?.user_id ?? null
}

const findOwner = prepared(
  (db) => db.selectFrom('billing_customers').select('user_id').where('customer_id', '=', ''),
  1,
)

const ownersAskedOf = new WeakMap<Db, WriteBatcher<string, string | null>>()

function ownersAsked(db: Db): WriteBatcher<string, string | null> {
  const known = ownersAskedOf.get(db)
  if (known !== undefined) return known
  const asked = batchWrites<string, string | null>(async (ids) => {
    const owners = await knownCustomers(db, ids)
    return ids.map((id) => owners.get(id) ?? null)
  })
  ownersAskedOf.set(db, asked)
  return asked
}

/** Of these customers the users they belong to. */
export async function knownCustomers(
  db: Db,
  customerIds: readonly string[],
): Promise<Map<string, string>> {
  if (customerIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('billing_customers')
    .select(['customer_id', 'user_id'])
    .where('customer_id', 'in', [...new Set(customerIds)])
    .execute()
  return new Map(rows.map(({ customer_id, user_id }) => [customer_id, user_id]))
}

/**
 * The user's customer id, made from name and address where there is none.
 * The idempotency key makes concurrent calls one customer at the processor, the row lock makes it one here.
 */
export async function customerFor(
  deps: Pick<BillingDeps, 'db' | 'clock'>,
  processor: Processor,
  user: User,
): Promise<string> {
  if (user.processor_customer_id) {
    await followAddress(deps.db, processor, user, user.processor_customer_id)
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
  const made = await processor.customers
    .create(person, { idempotencyKey })
    .catch(async (error: unknown) => {
      if (isAnswer(error)) await nextGeneration(deps.db, user.id, generation)
      throw error
    })

  const createdS = number(made, 'created')
  return transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, user.id)
    await keepCustomer(
      tx,
      user.id,
      made.id,
      'present',
      createdS === null ? deps.clock.now() : instantOf(createdS),
    )
    const onRecord = await putOnRecord(tx, account, { address: { of: made.id, email: user.email } })
    return onRecord ?? made.id
  })
}

/** The next customer is asked for under another key. Of several tabs at once the first says so. */
async function nextGeneration(db: Db, userId: string, generation: number): Promise<void> {
  await db
    .updateTable('billing_accounts')
    .set({ customer_generation: generation + 1 })
    .where('user_id', '=', userId)
    .where('customer_generation', '=', generation)
    .execute()
}

/**
 * Receipts go to the account's address, also after it has changed. An address that the customer set in the portal stays
 * until then: only a change here is passed on.
 */
async function followAddress(
  db: Db,
  processor: Processor,
  user: User,
  customerId: string,
): Promise<void> {
  const account = await findAccount(db, user.id)
  if (!account?.customer_email || account.customer_email === user.email) return
  await processor.customers.update(customerId, { email: user.email })
  await updateAccount(db, user.id, { customer_email: user.email })
}

/** What an event tells of whom the user is at the processor. @throws when the processor must be asked and cannot be. */
export async function noteCustomer(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  user: User,
  event: BillingEvent,
): Promise<void> {
  const { customerId } = event
  if (customerId === null) return
  if (event.about === 'customer') return dropCustomer(deps, user.id, customerId, 'deleted')

  const isCheckout = event.about === 'checkout'
  const known = (await customersOf(deps.db, user.id)).find((one) => one.customer_id === customerId)
  const isOnRecord = user.processor_customer_id === customerId
  if (known && (!isCheckout || isOnRecord || known.state !== 'present')) {
    if (isCheckout)
      await keepCustomer(deps.db, user.id, customerId, known.state, instantOf(event.created))
    return
  }
  // Before anyone is given over to another customer: does it live? An event may be as old as the customer's end.
  const found = await readCustomerState(deps, customerId)
  const state = found === 'deleted' ? 'deleted' : 'present'
  // One that the processor does not know serves only where there is no other.
  await keepCustomer(
    deps.db,
    user.id,
    customerId,
    state,
    isCheckout && found === 'present' ? instantOf(event.created) : null,
  )
}

/** Adds the row, or brings it up to date. A customer belongs to the user who had it first. */
async function keepCustomer(
  db: Db,
  userId: string,
  customerId: string,
  state: Customer['state'],
  checkoutAt: Instant | null,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockAccount(tx, userId)
    await tx
      .insertInto('billing_customers')
      .values({ customer_id: customerId, user_id: userId, state, checkout_at: null })
      .onConflict((conflict) => conflict.column('customer_id').doNothing())
      .execute()
    await tx
      .updateTable('billing_customers')
      .set({ state })
      .where('customer_id', '=', customerId)
      .where('user_id', '=', userId)
      // An end is final: another node may have heard of it meanwhile.
      .where('state', '!=', 'deleted')
      .execute()
    if (checkoutAt === null) return
    await tx
      .updateTable('billing_customers')
      .set({ checkout_at: checkoutAt })
      .where('customer_id', '=', customerId)
      .where('user_id', '=', userId)
      .where((e) => e.or([e('checkout_at', 'is', null), e('checkout_at', '<', checkoutAt)]))
      .execute()
  })
}

/**
 * Which customer checkouts and the portal are opened for: the one that pays now, else the one with the newest checkout. Follows from the
 * rows alone, so that it does not matter in which order they were written. Returns its id, and null when there is none.
 */
export async function putOnRecord(
  tx: Db,
  account: Account,
  {
    paying = null,
    address = null,
  }: { paying?: string | null; address?: { of: string; email: string } | null } = {},
): Promise<string | null> {
  const userId = account.user_id
  const user = await findUser(tx, userId)
  const present = (await customersOf(tx, userId)).filter(({ state }) => state === 'present')
  const newest = present.sort((a, b) => ((a.checkout_at ?? '') < (b.checkout_at ?? '') ? 1 : -1))[0]
  const chosen = present.find((one) => one.customer_id === paying) ?? newest
  const id = chosen?.customer_id ?? null
  if (!user || id === user.processor_customer_id) return id

  const wasLost =
    user.processor_customer_id !== null &&
    !present.some((one) => one.customer_id === user.processor_customer_id)
  await updateAccount(tx, userId, {
    customer_id: id,
    customer_email: address?.of === id ? address.email : null,
    // Else the next one would be asked for under the lost one's idempotency key, and be that one.
    ...(wasLost ? { customer_generation: account.customer_generation + 1 } : {}),
  })
  await setProcessorCustomer(tx, userId, id)
  return id
}

/** The processor refuses the customer: another one of the user takes its place, or the next checkout makes one. */
export async function dropCustomer(
  { db }: Pick<BillingDeps, 'db'>,
  userId: string,
  customerId: string,
  state: 'deleted' | 'refused',
): Promise<void> {
  await transaction(db, async (tx) => {
    const account = await lockAccount(tx, userId)
    await markLost(tx, userId, customerId, state)
    await putOnRecord(tx, account)
  })
}

export async function markLost(
  tx: Db,
  userId: string,
  customerId: string,
  state: 'deleted' | 'refused',
) {
  await tx
    .updateTable('billing_customers')
    .set({ state })
    .where('customer_id', '=', customerId)
    .where('user_id', '=', userId)
    .where('state', '!=', 'deleted')
    .execute()
}

/** What the processor itself says of a customer. */
export async function readCustomerState(
  { processor }: Pick<BillingDeps, 'processor'>,
  customerId: string,
): Promise<Customer['state']> {
  const customer = await unlessMissing(requireProcessor(processor).customers.retrieve(customerId))
  if (!customer) return 'refused'
  return customer.deleted ? 'deleted' : 'present'
}
