/**
 * Download tokens: named, expiring secrets with which machines fetch the plain archives of one
 * license. They are stored only as keyed hashes and end with the license.
 */
import { randomUUID } from 'node:crypto'
import { findUser } from '#identity/users.ts'
import { DAY_MS, HOUR_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { ownedToken, readOwner } from '#platform/owned-token.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import { findLicensedPurchase } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import * as store from './token-store.ts'

export type TokenDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>

const PREFIX = 'lkd_'
const TOKENS_MAX = 10
/** The time of a token's last use is stored at most this often. */
const USED_MS = HOUR_MS

/** Creates a token, whose secret is returned only here. @throws Problem */
export async function createToken(
  { db, clock, secrets }: TokenDeps,
  userId: string,
  purchaseId: string,
  { name, days }: { name: string; days: number },
) {
  const now = clock.now()
  const secret = `${PREFIX}${ownedToken(userId)}`
  const row = { id: randomUUID(), name, created_at: now, expires_at: plus(now, days * DAY_MS) }
  await transaction(db, async (tx) => {
    const found = await purchaseStore.findOfUser(tx, userId, purchaseId)
    if (!found) throw storefrontProblem('purchase_not_found')
    if (purchaseStore.isBundle(found)) throw storefrontProblem('bundle_without_files')
    // The lock makes a simultaneous refund visible, and orders simultaneous calls.
    const chain = await purchaseStore.lockChain(tx, found)
    if (!chain.some(purchaseStore.isCurrent)) throw storefrontProblem('license_revoked')
    if ((await store.listTokens(tx, found, now)).length >= TOKENS_MAX)
      throw storefrontProblem('token_limit_reached', { max: TOKENS_MAX })
    await store.insertToken(tx, {
      ...row,
      owner: found.owner,
      chain_id: found.chain_id,
      token_hash: secrets.hash('download-token', secret),
      last_used_at: null,
    })
  })
  return { ...row, last_used_at: null, token: secret }
}

/** @throws Problem `purchase_not_found` */
export async function listTokens({ db, clock }: TokenDeps, userId: string, purchaseId: string) {
  return store.listTokens(db, await requirePurchase({ db }, userId, purchaseId), clock.now())
}

/** @throws Problem `purchase_not_found`, `download_token_not_found` */
export async function deleteToken(
  { db }: TokenDeps,
  userId: string,
  purchaseId: string,
  tokenId: string,
): Promise<void> {
  const purchase = await requirePurchase({ db }, userId, purchaseId)
  if (!(await store.removeToken(db, purchase, tokenId)))
    throw storefrontProblem('download_token_not_found')
}

async function requirePurchase({ db }: Pick<TokenDeps, 'db'>, userId: string, id: string) {
  const purchase = await purchaseStore.findOfUser(db, userId, id)
  if (!purchase) throw storefrontProblem('purchase_not_found')
  return purchase
}

/** The license behind a download token or a license key. */
export type Credential = {
  /** The token's id, or the chain of a license key. */
  id: string
  purchase: PurchaseRow
}

/**
 * Returns the license that a bearer's token or license key opens. @throws Problem
 * `download_credential_invalid`, `license_revoked`, `payment_disputed`
 */
export async function requireCredential(
  deps: TokenDeps,
  bearer: string | null,
): Promise<Credential> {
  const found = bearer?.startsWith(PREFIX)
    ? await findByToken(deps, bearer)
    : await findByKey(deps, bearer ?? '')
  if (!found)
    throw storefrontProblem('download_credential_invalid', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  if (!purchaseStore.isCurrent(found.purchase)) throw storefrontProblem('license_revoked')
  if (found.purchase.status === 'disputed') throw storefrontProblem('payment_disputed')
  return found
}

async function findByKey(deps: TokenDeps, key: string): Promise<Credential | null> {
  const purchase = await findLicensedPurchase(deps, key)
  return purchase ? { id: purchase.chain_id, purchase } : null
}

async function findByToken(
  { db, clock, secrets }: TokenDeps,
  secret: string,
): Promise<Credential | null> {
  const owner = readOwner(secret.slice(PREFIX.length))
  if (owner === null) return null
  const now = clock.now()
  const token = await store.findToken(db, owner, secrets.hash('download-token', secret), now)
  if (!token || !(await findUser(db, owner))?.is_active) return null
  const chain = await purchaseStore.listChain(db, token)
  const purchase = chain.findLast(purchaseStore.isCurrent) ?? chain.at(-1)
  if (!purchase) return null
  if (token.last_used_at === null || clock.ms() - Date.parse(token.last_used_at) > USED_MS)
    await store.noteUse(db, token, now)
  return { id: token.id, purchase }
}
