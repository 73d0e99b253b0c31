/**
 * The machines on which a license is active. The limit is one conditional update, so
 * that simultaneous activations cannot exceed it. Every release counts towards the license's month;
 * otherwise one license would serve any number of machines in turn.
 */
import { randomUUID } from 'node:crypto'
import { PRODUCT_DEFAULTS } from '#catalogue/catalogue.ts'
import { HOUR_MS, type Instant } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed, ProductList } from '../products/product-list.ts'
import { findLicensedPurchase } from '../purchases/purchases.ts'
import type { ChainKey, PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import type { ActivationRow } from './store.ts'
import * as store from './store.ts'

export type ActivationDeps = Pick<Platform, 'db' | 'clock' | 'secrets'> & Listed

export type Machine = {
  fingerprint: string
  name?: string | undefined
  platform?: string | undefined
  version?: string | undefined
}

/** The time of a machine's last call is stored at most this often. */
const SEEN_MS = HOUR_MS

/**
 * Activates a machine; one that is active already is not counted again. @throws Problem
 * `license_not_found`, `license_revoked`, `payment_disputed`, `activations_full`
 */
export async function activateMachine(
  deps: ActivationDeps,
  licenseKey: string,
  machine: Machine,
): Promise<{ purchase: PurchaseRow; activation: ActivationRow; isNew: boolean }> {
  const { db, clock } = deps
  const purchase = await requireLicense(deps, licenseKey)
  const hash = hashFingerprint(deps, machine.fingerprint)
  const known = await store.findActiveMachine(db, purchase, hash)
  if (known) {
    const { name = known.name, platform = known.platform, version = known.version } = machine
    const seen = { name, platform, version, last_seen_at: clock.now() }
    await store.updateSeen(db, known, seen)
    return { purchase, activation: { ...known, ...seen }, isNew: false }
  }

  const row = buildRow(purchase, machine, hash, clock.now())
  if (await insertActivation(deps, purchase, row)) return { purchase, activation: row, isNew: true }
  // A simultaneous request may have activated the same machine.
  const activation = await store.findActiveMachine(db, purchase, hash)
  if (activation) return { purchase, activation, isNew: false }
  throw await buildRefusal(deps, purchase)
}

/** Returns false when the license is full, has ended, or is active on the machine already. */
function insertActivation(
  { productList, db }: ActivationDeps,
  chain: ChainKey,
  row: ActivationRow,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    // The lock makes a simultaneous refund or change of the limit visible.
    const purchase = findCurrent(await purchaseStore.lockChain(tx, chain))
    if (!purchase) return false
    const limit = findLimit(productList, purchase)
    if (!(await purchaseStore.takeActivation(tx, chain, limit))) return false
    if (await store.insert(tx, row)) return true
    await purchaseStore.giveActivationBack(tx, chain)
    return false
  })
}

async function buildRefusal({ productList, db }: ActivationDeps, chain: ChainKey) {
  const purchase = findCurrent(await purchaseStore.listChain(db, chain))
  if (!purchase) return storefrontProblem('license_revoked')
  const limit = findLimit(productList, purchase) ?? 0
  const activations = (await store.listActive(db, chain)).map(activationView)
  return storefrontProblem('activations_full', { limit }, { extra: { activations } })
}

/** Returns the purchase that the license has its terms from: the newest valid one. */
function findCurrent(chain: readonly PurchaseRow[]): PurchaseRow | undefined {
  return chain.findLast(purchaseStore.isCurrent)
}

function buildRow(
  { owner, chain_id }: ChainKey,
  { name, platform, version }: Machine,
  fingerprintHash: string,
  now: Instant,
): ActivationRow {
  return {
    owner,
    id: randomUUID(),
    chain_id,
    fingerprint_hash: fingerprintHash,
    name: name ?? null,
    platform: platform ?? null,
    version: version ?? null,
    activated_at: now,
    last_seen_at: now,
    released_at: null,
  }
}

/** Returns the active machine with this fingerprint. @throws Problem `not_activated` */
export async function requireActivation(
  deps: ActivationDeps,
  licenseKey: string,
  fingerprint: string,
): Promise<{ purchase: PurchaseRow; activation: ActivationRow }> {
  const purchase = await requireLicense(deps, licenseKey)
  const hash = hashFingerprint(deps, fingerprint)
  const activation = await store.findActiveMachine(deps.db, purchase, hash)
  if (!activation) throw storefrontProblem('not_activated')
  return { purchase, activation }
}

/** Returns whether the activation is active, and stores that it was seen. */
export async function checkActivation(
  { db, clock }: Pick<ActivationDeps, 'db' | 'clock'>,
  purchase: PurchaseRow,
  id: string,
): Promise<boolean> {
  const row = await store.findActivation(db, purchase, id)
  if (!row || row.released_at !== null) return false
  if (clock.ms() - Date.parse(row.last_seen_at) > SEEN_MS)
    await store.updateSeen(db, row, { last_seen_at: clock.now() })
  return true
}

/** Releases a machine with its license key. Returns when it was released, also for a repeated call. */
export async function deactivateMachine(
  deps: ActivationDeps,
  licenseKey: string,
  activationId: string,
): Promise<Instant> {
  const purchase = await findLicensedPurchase(deps, licenseKey)
  if (!purchase) throw storefrontProblem('license_not_found')
  return releaseMachine(deps, purchase, activationId)
}

/** @throws Problem `purchase_not_found`, `activation_not_found`, `release_limit_reached` */
export async function releaseOfUser(
  deps: ActivationDeps,
  userId: string,
  purchaseId: string,
  activationId: string,
): Promise<void> {
  const purchase = await purchaseStore.findOfUser(deps.db, userId, purchaseId)
  if (!purchase) throw storefrontProblem('purchase_not_found')
  await releaseMachine(deps, purchase, activationId)
}

/**
 * Ends an activation for the seller. It does not count towards the buyer's releases of the month.
 * Returns false when the license has no such machine.
 */
export async function endActivation(tx: Db, purchase: PurchaseRow, id: string): Promise<boolean> {
  const row = await store.findActivation(tx, purchase, id)
  if (!row || row.released_at !== null) return false
  await store.remove(tx, row)
  await purchaseStore.giveActivationBack(tx, purchase)
  return true
}

function releaseMachine(
  { productList, db, clock }: ActivationDeps,
  purchase: PurchaseRow,
  id: string,
): Promise<Instant> {
  const now = clock.now()
  return transaction(db, async (tx) => {
    // Without the lock, two releases could both be the last one of the month.
    const terms = findCurrent(await purchaseStore.lockChain(tx, purchase))
    const row = await store.findActivation(tx, purchase, id)
    if (!terms || !row) throw storefrontProblem('activation_not_found')
    if (row.released_at !== null) return row.released_at
    const left = await countReleasesLeft(tx, productList, terms, now)
    if (left === 0) throw releaseLimitReached(productList, terms, now)
    if (await store.release(tx, row, now)) await purchaseStore.giveActivationBack(tx, purchase)
    return now
  })
}

function releaseLimitReached(productList: ProductList, purchase: PurchaseRow, now: Instant) {
  const max = findTerms(productList, purchase).activationReleasesPerMonth
  return storefrontProblem(
    'release_limit_reached',
    { max },
    { extra: { available_at: nextMonth(now) } },
  )
}

/** Returns null where machines may be released without limit. */
async function countReleasesLeft(
  db: Db,
  productList: ProductList,
  purchase: PurchaseRow,
  now: Instant,
): Promise<number | null> {
  // Without a limit of machines, releasing one gains nothing.
  if (findLimit(productList, purchase) === null) return null
  const used = await store.countReleases(db, purchase, thisMonth(now))
  return Math.max(0, findTerms(productList, purchase).activationReleasesPerMonth - used)
}

/** Lists the active machines of a user's purchase. @throws Problem `purchase_not_found` */
export async function listActivations(
  { productList, db, clock }: ActivationDeps,
  userId: string,
  purchaseId: string,
) {
  const found = await purchaseStore.findOfUser(db, userId, purchaseId)
  if (!found) throw storefrontProblem('purchase_not_found')
  const purchase = findCurrent(await purchaseStore.listChain(db, found)) ?? found
  const now = clock.now()
  return {
    limit: findLimit(productList, purchase),
    releases_left: await countReleasesLeft(db, productList, purchase, now),
    releases_renew_at: nextMonth(now),
    activations: (await store.listActive(db, purchase)).map(activationView),
  }
}

/** @throws Problem `license_not_found`, `license_revoked`, `payment_disputed` */
async function requireLicense(deps: ActivationDeps, licenseKey: string): Promise<PurchaseRow> {
  const purchase = await findLicensedPurchase(deps, licenseKey)
  if (!purchase) throw storefrontProblem('license_not_found')
  if (!purchaseStore.isCurrent(purchase)) throw storefrontProblem('license_revoked')
  if (purchase.status === 'disputed') throw storefrontProblem('payment_disputed')
  return purchase
}

function findLimit(productList: ProductList, purchase: PurchaseRow): number | null {
  return purchase.activations_limit ?? findTerms(productList, purchase).activationsMax
}

/** A product that the catalogue dropped has the default terms. */
function findTerms(productList: ProductList, { tier }: PurchaseRow) {
  return productList.find(tier) ?? PRODUCT_DEFAULTS
}

/** A keyed hash, so that the shop stores nothing that identifies a machine. */
function hashFingerprint({ secrets }: ActivationDeps, fingerprint: string): string {
  return secrets.hash('activation-fingerprint', fingerprint)
}

function activationView(row: ActivationRow) {
  const { id, name, platform, version, activated_at, last_seen_at } = row
  return { id, name, platform, version, activated_at, last_seen_at }
}

const thisMonth = (now: Instant): Instant => `${now.slice(0, 7)}-01T00:00:00.000Z`

function nextMonth(now: Instant): Instant {
  const date = new Date(thisMonth(now))
  date.setUTCMonth(date.getUTCMonth() + 1)
  return date.toISOString()
}
