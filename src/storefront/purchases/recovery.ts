import { isUnclaimed } from '#identity/unclaimed-accounts.ts'
import { findUserByEmail } from '#identity/users.ts'
import type { Mail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Listed } from '../products/product-list.ts'
import { keyRecoveryEmail } from './emails.ts'
import { CONFIRMATION_JOB, openLicenseKey } from './purchases.ts'
import * as store from './store.ts'

export const RECOVERY_JOB = 'storefront.recover-keys'
const PER_ADDRESS = { requests: 3, seconds: 3600 }

export type RecoveryDeps = Pick<Platform, 'config' | 'db' | 'jobs' | 'secrets' | 'limiter'> &
  Listed & { mail: Mail }

/** The reply, which is the same for known and unknown addresses. */
export const RECOVERY_MESSAGE =
  'If purchases belong to this email, their license keys have been sent'

/**
 * Emails the keys of an address to it, at most three times an hour. A job reads the purchases, so
 * that the reply and its time do not reveal whether the address has any.
 */
export async function requestRecovery(
  { config, db, jobs, secrets, limiter }: RecoveryDeps,
  email: string,
): Promise<void> {
  const address = email.toLowerCase()
  if (config.limits.general !== null) {
    const hit = await limiter.hit('recovery', secrets.hash('recovery', address), PER_ADDRESS)
    if (!hit.allowed) return
  }
  await transaction(db, (tx) => jobs.enqueue(tx, RECOVERY_JOB, { email: address }))
}

export async function sendKeys(
  deps: RecoveryDeps,
  email: string,
  messageId: string,
): Promise<void> {
  const { db, jobs, secrets, mail } = deps
  const user = await findUserByEmail(db, email)
  if (!user) return
  const all = await store.listOfUser(db, user.id)
  const purchases = all.filter((row) => !store.isBundle(row))
  // The confirmations have the keys, too, and new links for what a guest has not claimed.
  const waiting = (await isUnclaimed(db, user)) ? all : await store.listClaimable(db, user.id)
  if (waiting.length > 0) {
    await transaction(db, async (tx) => {
      // The confirmation of a bundle has the keys of its products.
      for (const { id } of waiting.filter((row) => !store.isMember(row)))
        await jobs.enqueue(tx, CONFIRMATION_JOB, { purchaseId: id })
    })
  }
  if (purchases.length === 0 || waiting === all) return
  const keys = purchases.map((purchase) => ({
    purchase,
    licenseKey: openLicenseKey(secrets, purchase),
  }))
  await mail.deliver(keyRecoveryEmail(deps, user, keys), messageId)
}
