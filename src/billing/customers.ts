/**
 * A user's customers at the processor. Usually there is one, created once even if several tabs
 * check out. Support may delete it, and payment links may add others: all rows stay, and one is on
 * record.
 */
import { createHash } from 'node:crypto'
import { setProcessorCustomer } from '#identity/subscription.ts'
import { findUser, type User } from '#identity/users.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, findDialect, transaction } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { batchWrites, type WriteBatcher } from '#platform/db/write-batching.ts'
import { type Account, findAccount, lockAccount, toInstant, updateAccount } from './accounts.ts'
import type { BillingEvent } from './billing-events.ts'
import type { BillingDeps } from './deps.ts'
import { readNumber } from './object-reader.ts'
import { isFinalAnswer, nullIfMissing, type Processor, requireProcessor } from './processor.ts'
import type { BillingCustomersTable } from './tables.ts'

export type Customer = BillingCustomersTable

export function listCustomers(db: Db, userId: string): Promise<Customer[]> {
  return db
    .selectFrom('billing_customers')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('customer_id')
    .execute()
}

/**
 * Returns the user id of a customer. Every event needs it: concurrent lookups on a server share a
 * round trip.
 */
export async function findOwnerId(db: Db, customerId: string): Promise<string | null> {
  if (!db.isTransaction && findDialect(db) === 'postgres')
    return getOwnerBatcher(db).add(customerId)
  return (await findOwner(db, customerId))?.user_id ?? null
}

const findOwner = prepared(
  (db) => db.selectFrom('billing_customers').select('user_id').where('customer_id', '=', ''),
  1,
)

const ownerBatchers = new WeakMap<Db, WriteBatcher<string, string | null>>()

function getOwnerBatcher(db: Db): WriteBatcher<string, string | null> {
  const known = ownerBatchers.get(db)
  if (known !== undefined) return known
  const batcher = batchWrites<string, string | null>(async (ids) => {
    const owners = await findOwnerIds(db, ids)
    return ids.map((id) => owners.get(id) ?? null)
  })
  ownerBatchers.set(db, batcher)
  return batcher
}

/** Returns a map from customer id to user id. */
export async function findOwnerIds(
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
 * Returns the user's customer id, creating the customer if there is none. The idempotency key
 * prevents duplicates at the processor, the row lock prevents them here.
 */
export async function ensureCustomer(
  deps: Pick<BillingDeps, 'db' | 'clock'>,
  processor: Processor,
  user: User,
): Promise<string> {
  if (user.processor_customer_id) {
    await updateEmail(deps.db, processor, user, user.processor_customer_id)
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
  const newCustomer = await processor.customers
    .create(person, { idempotencyKey })
    .catch(async (error: unknown) => {
      if (isFinalAnswer(error)) await advanceGeneration(deps.db, user.id, generation)
      throw error
    })

  const createdS = readNumber(newCustomer, 'created')
  return transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, user.id)
    await saveCustomer(
      tx,
      user.id,
      newCustomer.id,
      'present',
      createdS === null ? deps.clock.now() : toInstant(createdS),
    )
    const onRecord = await chooseCustomer(tx, account, {
      address: { of: newCustomer.id, email: user.email },
    })
    return onRecord ?? newCustomer.id
  })
}

/**
 * Changes the idempotency key of the next customer. Of several concurrent callers only the first
 * has an effect.
 */
export async function advanceGeneration(db: Db, userId: string, generation: number): Promise<void> {
  await db
    .updateTable('billing_accounts')
    .set({ customer_generation: generation + 1 })
    .where('user_id', '=', userId)
    .where('customer_generation', '=', generation)
    .execute()
}

/**
 * Receipts follow the account's address. An address that the customer set in the portal stays until
 * the account's address changes.
 */
async function updateEmail(
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

/**
 * Records the customer named by an event.
 * @throws when the processor must be read and cannot be reached.
 */
export async function recordCustomer(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  user: User,
  event: BillingEvent,
): Promise<void> {
  const { customerId } = event
  if (customerId === null) return
  if (event.about === 'customer') return dropCustomer(deps, user.id, customerId, 'deleted')

  const isCheckout = event.about === 'checkout'
  const known = (await listCustomers(deps.db, user.id)).find(
    (customer) => customer.customer_id === customerId,
  )
  const isOnRecord = user.processor_customer_id === customerId
  if (known && (!isCheckout || isOnRecord || known.state !== 'present')) {
    if (isCheckout)
      await saveCustomer(deps.db, user.id, customerId, known.state, toInstant(event.created))
    return
  }
  // Checks first that the customer exists: an event may be as old as the customer's deletion.
  const found = await readCustomerState(deps, customerId)
  const state = found === 'deleted' ? 'deleted' : 'present'
  // A customer unknown to the processor is only used if there is no other.
  await saveCustomer(
    deps.db,
    user.id,
    customerId,
    state,
    isCheckout && found === 'present' ? toInstant(event.created) : null,
  )
}

/** Inserts or updates the row. A customer belongs to the first user recorded for it. */
async function saveCustomer(
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
      // A deletion is final: another node may have recorded it meanwhile.
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
 * Chooses the customer for checkouts and the portal: the one that pays now, otherwise the one with
 * the newest checkout. Depends on the rows alone, not on the order of writes. Returns its id, or
 * null.
 */
export async function chooseCustomer(
  tx: Db,
  account: Account,
  {
    paying = null,
    address = null,
  }: { paying?: string | null; address?: { of: string; email: string } | null } = {},
): Promise<string | null> {
  const userId = account.user_id
  const user = await findUser(tx, userId)
  const present = (await listCustomers(tx, userId)).filter(({ state }) => state === 'present')
  const newest = present.sort((a, b) => ((a.checkout_at ?? '') < (b.checkout_at ?? '') ? 1 : -1))[0]
  const chosen = present.find((customer) => customer.customer_id === paying) ?? newest
  const id = chosen?.customer_id ?? null
  if (!user || id === user.processor_customer_id) return id

  const wasLost =
    user.processor_customer_id !== null &&
    !present.some((customer) => customer.customer_id === user.processor_customer_id)
  await updateAccount(tx, userId, {
    customer_id: id,
    customer_email: address?.of === id ? address.email : null,
    // Otherwise the same idempotency key would return the lost customer again.
    ...(wasLost ? { customer_generation: account.customer_generation + 1 } : {}),
  })
  await setProcessorCustomer(tx, userId, id)
  return id
}

/**
 * Marks a customer that the processor refused; another customer replaces it, or the next checkout
 * creates one.
 */
export async function dropCustomer(
  { db }: Pick<BillingDeps, 'db'>,
  userId: string,
  customerId: string,
  state: 'deleted' | 'refused',
): Promise<void> {
  await transaction(db, async (tx) => {
    const account = await lockAccount(tx, userId)
    await markLost(tx, userId, customerId, state)
    await chooseCustomer(tx, account)
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

export async function readCustomerState(
  { processor }: Pick<BillingDeps, 'processor'>,
  customerId: string,
): Promise<Customer['state']> {
  const customer = await nullIfMissing(requireProcessor(processor).customers.retrieve(customerId))
  if (!customer) return 'refused'
  return customer.deleted ? 'deleted' : 'present'
}
