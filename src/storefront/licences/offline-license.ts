/**
 * Offline licenses: signed files that a program verifies without a network. A refund cannot reach
 * them, so they end after 30 days and the program fetches the next one.
 */
import { type Static, Type } from 'typebox'
import { DAY_MS, plus } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { Listed } from '../products/product-list.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import type { LicenseSigningKeys } from './signing-keys.ts'
import type { ActivationRow } from './store.ts'

const OFFLINE_MS = 30 * DAY_MS

export const LicenseFile = Type.Object(
  {
    protected: Type.String({ description: 'Base64url: `{"alg":"EdDSA","kid":…,"typ":"license"}`' }),
    payload: Type.String({ description: 'Base64url: the license as JSON' }),
    signature: Type.String({ description: 'Base64url: Ed25519 over `protected.payload`' }),
  },
  { title: 'LicenseFile', description: 'A flattened JWS (RFC 7515, section 7.2.2).' },
)

export type OfflineLicenseDeps = Pick<Platform, 'config' | 'clock'> &
  Listed & { signingKeys: LicenseSigningKeys }

/** Returns the file and the time at which it ends. */
export async function signOfflineLicense(
  { config, clock, productList, signingKeys }: OfflineLicenseDeps,
  purchase: PurchaseRow,
  activation: ActivationRow,
  fingerprint: string,
): Promise<{ file: Static<typeof LicenseFile>; until: string }> {
  const product = productList.find(purchase.tier)
  const now = clock.now()
  const until = plus(now, OFFLINE_MS)
  const file = await signingKeys.signPayload({
    issuer: config.urls.storefront,
    product: product?.slug ?? purchase.tier,
    tier: purchase.tier,
    seats: 1,
    activation_id: activation.id,
    fingerprint,
    features: product?.features ?? [],
    issued_at: now,
    until,
    updates_until: purchase.entitled_until,
  })
  return { file, until }
}
