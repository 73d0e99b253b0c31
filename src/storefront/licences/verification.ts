import { type Static, Type } from 'typebox'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import { findLicensedPurchase } from '../purchases/purchases.ts'
import { isCurrent, type PurchaseRow } from '../purchases/store.ts'
import { type ActivationDeps, checkActivation } from './activations.ts'

export const LicenseKey = Type.String({ minLength: 1, maxLength: 1000 })

export const LicenseView = Type.Object(
  {
    valid: Type.Boolean(),
    tier: Nullable(Type.String()),
    status: Nullable(Type.String()),
    entitled_until: Nullable(Instant),
    // Null: the key is unknown.
    code: Nullable(
      OneOf('ok', 'revoked', 'refunded', 'disputed', 'not_activated', 'updates_ended'),
    ),
    seats: Nullable(Type.Integer()),
    // Null: updates never end, or the key is unknown.
    updates_until: Nullable(Instant),
  },
  { title: 'License' },
)
export type LicenseView = Static<typeof LicenseView>

const UNKNOWN: LicenseView = {
  valid: false,
  tier: null,
  status: null,
  entitled_until: null,
  code: null,
  seats: null,
  updates_until: null,
}

/**
 * Verifies a license key. A key stays valid when its downloads are used up, when its updates have
 * ended, while its payment is disputed, and after its account is deleted. A refund ends it.
 */
export async function verifyLicense(
  deps: ActivationDeps,
  typed: string,
  activationId?: string,
): Promise<LicenseView> {
  const purchase = await findLicensedPurchase(deps, typed)
  if (!purchase) return UNKNOWN
  const code = await findCode(deps, purchase, activationId)
  return {
    valid: isCurrent(purchase) && code !== 'not_activated',
    tier: purchase.tier,
    status: purchase.status,
    entitled_until: purchase.entitled_until,
    code,
    seats: 1,
    updates_until: purchase.entitled_until,
  }
}

async function findCode(
  deps: ActivationDeps,
  purchase: PurchaseRow,
  activationId: string | undefined,
): Promise<LicenseView['code']> {
  if (!isCurrent(purchase)) return purchase.status === 'revoked' ? 'revoked' : 'refunded'
  if (activationId !== undefined && !(await checkActivation(deps, purchase, activationId)))
    return 'not_activated'
  if (purchase.status === 'disputed') return 'disputed'
  const { entitled_until } = purchase
  return entitled_until !== null && entitled_until <= deps.clock.now() ? 'updates_ended' : 'ok'
}
