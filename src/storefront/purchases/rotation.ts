import { recordAudit } from '#audit/audit.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { storefrontProblem } from '../problems.ts'
import { hashLicenseKey, newLicenseKey } from './license-key.ts'
import { CONFIRMATION_JOB } from './purchases.ts'
import * as store from './store.ts'

export type RotationDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'limiter'
>

/** Every key makes another archive, so a license gets only a few of them. */
const PER_LICENSE = { requests: 5, seconds: 86_400 }

/**
 * Replaces the license key of a purchase and its chain. The old key stops working at once; the new
 * one is emailed, too. Activations and download tokens stay. @throws Problem
 */
export async function rotateKey(
  { config, db, clock, jobs, secrets, limiter }: RotationDeps,
  userId: string,
  purchaseId: string,
): Promise<string> {
  const found = await store.findOfUser(db, userId, purchaseId)
  if (!found) throw storefrontProblem('purchase_not_found')
  if (store.isBundle(found)) throw storefrontProblem('bundle_without_files')
  if (!store.isCurrent(found)) throw storefrontProblem('license_revoked')
  if (config.limits.general !== null) {
    const hit = await limiter.hit('rotate-key', found.chain_id, PER_LICENSE)
    if (!hit.allowed) throw rateProblem(hit)
  }

  const key = newLicenseKey()
  await transaction(db, async (tx) => {
    // The lock orders simultaneous rotations, and makes a refund visible.
    const chain = await store.lockChain(tx, found)
    const purchase = chain.find(({ id }) => id === found.id)
    if (!purchase || !store.isCurrent(purchase)) throw storefrontProblem('license_revoked')
    await store.replaceLicense(tx, purchase, {
      license_hash: hashLicenseKey(secrets, key),
      license_sealed: secrets.seal('license-key', key),
    })
    await jobs.enqueue(tx, CONFIRMATION_JOB, { purchaseId })
    await recordAudit(tx, {
      actorId: userId,
      action: 'license.rotated',
      subject: `purchase:${purchaseId}`,
      at: clock.now(),
    })
  })
  return key
}
