/** Purchases as a superuser reads them: searched, with the buyer, the money and the deliveries. */
import type { SelectQueryBuilder } from 'kysely'
import { listAboutSubject } from '#audit/entries.ts'
import { findPayments, listDisputes, listRefunds } from '#billing/money/payments.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { findUsers } from '#identity/admin/user-search.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import {
  countRows,
  describePage,
  isAfterCursor,
  nextCursor,
  type PageOf,
} from '#platform/http/keyset.ts'
import type { Platform } from '#platform/platform.ts'
import { listOfPurchases } from '../downloads/store.ts'
import { listActive } from '../licences/store.ts'
import { storefrontProblem } from '../problems.ts'
import { hashLicenseKey, maskLicenseKey, parseLicenseKey } from '../purchases/license-key.ts'
import { openLicenseKey } from '../purchases/purchases.ts'
import {
  findById,
  isBundle,
  isOrder,
  listChain,
  listMembers,
  type PurchaseRow,
} from '../purchases/store.ts'
import type { PurchaseStatus } from '../tables.ts'
import type { OrderDetail, OrderView } from './order-schemas.ts'

export type OrderDeps = Pick<Platform, 'db' | 'secrets'>

export type OrderFilter = {
  q?: string | undefined
  status?: PurchaseStatus | undefined
  product?: Tier | undefined
}

const SEARCHED_USERS = 100
const DOWNLOADS_MAX = 100
const CHANGES_MAX = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Lists purchases, newest first. */
export async function listOrders(deps: OrderDeps, filter: OrderFilter, asked: PageOf) {
  const { db } = deps
  const { page, limit, cursor } = asked
  const found = await selectOrders(deps, filter)
  const total = await countRows(db, found)
  const offset = cursor === undefined ? (page - 1) * limit : 0
  const rows = offset >= total ? [] : await readPage(found, { cursor, offset, limit })
  return {
    purchases: await viewOrders(db, rows),
    ...describePage(rows, total, { page, limit }),
  }
}

/** Yields all purchases that match, newest first, page by page. */
export async function* readOrders(
  deps: OrderDeps,
  filter: OrderFilter,
  pageRows: number,
): AsyncGenerator<OrderView[]> {
  const found = await selectOrders(deps, filter)
  let cursor: string | undefined
  do {
    const rows: PurchaseRow[] = await readPage(found, { cursor, offset: 0, limit: pageRows })
    yield await viewOrders(deps.db, rows)
    cursor = nextCursor(rows, pageRows) ?? undefined
  } while (cursor !== undefined)
}

/** @throws Problem 404 */
export async function readOrder({ db, secrets }: OrderDeps, id: string): Promise<OrderDetail> {
  const row = await findById(db, id)
  if (!row) throw storefrontProblem('purchase_not_found')
  const members = await listMembers(db, row)
  const renewed = await Promise.all(members.map((member) => listChain(db, member)))
  const tiers = new Map([row, ...renewed.flat()].map((part) => [part.id, part.tier]))
  const [[view], chain, refunds, disputes, downloads, machines, changes] = await Promise.all([
    viewOrders(db, [row]),
    listChain(db, row).then((rows) => viewOrders(db, rows)),
    listRefunds(db, row.payment_ref),
    listDisputes(db, row.payment_ref),
    listOfPurchases(db, findBuyerId(row), [...tiers.keys()], DOWNLOADS_MAX),
    listActive(db, row),
    listChanges(db, row.id),
  ])
  if (!view) throw storefrontProblem('purchase_not_found')
  return {
    ...view,
    license_key_masked: isBundle(row) ? null : maskLicenseKey(openLicenseKey(secrets, row)),
    members: members.map((member) => ({
      id: member.id,
      tier: member.tier,
      status: member.status,
      license_key_masked: maskLicenseKey(openLicenseKey(secrets, member)),
    })),
    waiver: row.waiver_json,
    withdrawn_at: row.withdrawn_at,
    revoked_at: row.revoked_at,
    chain,
    refunds,
    disputes,
    downloads: downloads.map(({ purchase_id, ...download }) => ({
      ...download,
      tier: tiers.get(purchase_id) ?? row.tier,
    })),
    machines: machines.map(({ id, name, platform, version, activated_at, last_seen_at }) => ({
      id,
      name,
      platform,
      version,
      activated_at,
      last_seen_at,
    })),
    changes,
  }
}

async function listChanges(db: Db, id: string) {
  const entries = await listAboutSubject(db, `purchase:${id}`, CHANGES_MAX)
  const actors = [...new Set(entries.flatMap(({ actor_id }) => actor_id ?? []))]
  const emails = await findEmails(db, actors)
  return entries.map(({ actor_id, ...entry }) => ({
    ...entry,
    actor_email: emails.get(actor_id ?? '') ?? null,
  }))
}

type Found = SelectQueryBuilder<Tables, 'purchases', object>

/**
 * Finds by an id, a payment, a license key, or the buyer's address or name. An id or a key of a
 * product in a bundle leads to the bundle's order.
 */
async function selectOrders(
  { db, secrets }: OrderDeps,
  { q = '', status, product }: OrderFilter,
): Promise<Found> {
  const text = q.trim()
  const key = parseLicenseKey(text)
  const isReference = UUID.test(text) || /^(pi|cs|free)_/.test(text)
  const users =
    text === '' || key !== null || isReference
      ? []
      : (await findUsers(db, text, { page: 1, limit: SEARCHED_USERS })).users
  return db
    .selectFrom('purchases')
    .where(isOrder)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'completed'))
    .$if(product !== undefined, (query) => query.where('tier', '=', product ?? ''))
    .$if(key !== null, (query) =>
      query.where((e) => {
        const hash = hashLicenseKey(secrets, key ?? '')
        return e.or([
          e('license_hash', '=', hash),
          e('id', 'in', selectBundles(db).where('license_hash', '=', hash)),
        ])
      }),
    )
    .$if(key === null && isReference, (query) =>
      query.where((e) =>
        UUID.test(text)
          ? e.or([
              e('id', '=', text.toLowerCase()),
              e('id', 'in', selectBundles(db).where('id', '=', text.toLowerCase())),
              e('chain_id', '=', text.toLowerCase()),
              e('user_id', '=', text.toLowerCase()),
              e('claimant_id', '=', text.toLowerCase()),
            ])
          : e.or([e('payment_ref', '=', text), e('checkout_session_id', '=', text)]),
      ),
    )
    .$if(text !== '' && key === null && !isReference, (query) =>
      query.where((e) => {
        const ids = ['', ...users.map(({ id }) => id)]
        return e.or([e('user_id', 'in', ids), e('claimant_id', 'in', ids)])
      }),
    )
}

const selectBundles = (db: Db) => db.selectFrom('purchases').select('bundle_id')

function readPage(
  found: Found,
  { cursor, offset, limit }: { cursor: string | undefined; offset: number; limit: number },
): Promise<PurchaseRow[]> {
  return found
    .selectAll()
    .where(isAfterCursor(cursor))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
}

/** Returns the account of the buyer, also before they have claimed the purchase. */
const findBuyerId = ({ user_id, claimant_id }: PurchaseRow) => user_id ?? claimant_id ?? ''

async function viewOrders(db: Db, rows: readonly PurchaseRow[]): Promise<OrderView[]> {
  const [emails, payments] = await Promise.all([
    findEmails(
      db,
      rows.map(findBuyerId).filter((id) => id !== ''),
    ),
    findPayments(
      db,
      rows.map(({ payment_ref }) => payment_ref),
    ),
  ])
  return rows.map((row) => {
    const payment = payments.get(row.payment_ref)
    return {
      id: row.id,
      user_id: row.user_id,
      email: emails.get(findBuyerId(row)) ?? null,
      tier: row.tier,
      status: row.status,
      amount_cents: row.amount_cents,
      tax_cents: payment?.tax_cents ?? 0,
      refunded_cents: payment?.refunded_cents ?? 0,
      currency: row.currency,
      fee_cents: payment?.fee_cents ?? null,
      fee_currency: payment?.fee_currency ?? null,
      payment_ref: row.payment_ref,
      from_id: row.from_id,
      bundle_id: row.bundle_id,
      download_count: row.download_count,
      max_downloads: row.max_downloads,
      activations_limit: row.activations_limit,
      entitled_until: row.entitled_until,
      created_at: row.created_at,
    }
  })
}
