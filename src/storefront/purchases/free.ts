/**
 * Free products, which the payment processor never sees. A signed-in user with a verified address
 * gets one at once; others of `email` products by a mailed link. A mailbox gets each product once.
 */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { catalogueProblem } from '#catalogue/problems.ts'
import { requireAllowedDomain } from '#identity/account/sign-up-rules.ts'
import { countEmail } from '#identity/email-rate.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import { addressKey } from '#platform/http/address.ts'
import type { Locale } from '#platform/locale.ts'
import { type RateLimiter, rateProblem } from '#platform/rate-limiter.ts'
import { issueFreeClaim } from '../claims/claims.ts'
import { storefrontProblem } from '../problems.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import type { StoreCaller } from '../sessions/sessions.ts'
import { ownsTier } from './allowance.ts'
import { freeProductEmail } from './emails.ts'
import { giveFree } from './give-free.ts'
import type { PurchaseDeps } from './purchases.ts'

export type FreeDeps = PurchaseDeps & ProductDeps & { limiter: RateLimiter }

/** Each request of a visitor sends an email. */
const PER_ADDRESS = { requests: 20, seconds: 3600 }

type Visitor = {
  caller: StoreCaller | null
  /** The address that a visitor without a session gave. */
  email: string | undefined
  address: string
  locale: Locale | null
}

/**
 * Gives a free product to a verified user, or mails the link that does. Returns the path of the next
 * page. @throws Problem 400 for the address's domain, 401, 403 without a verified address, 409, 429
 */
export async function requestFree(
  deps: FreeDeps,
  product: CatalogueProduct,
  visitor: Visitor,
): Promise<'/dashboard' | '/checkout/sent'> {
  const { caller } = visitor
  if (!(await isForSale(deps, product.tier))) throw storefrontProblem('not_for_sale')
  if (caller !== null && (await ownsTier(deps, caller.userId, product.tier))) return '/dashboard'
  if (caller?.isVerified) {
    await transaction(deps.db, (tx) => giveFree(deps, tx, caller.userId, product.tier))
    return '/dashboard'
  }
  if (product.free !== 'email' && caller !== null) throw catalogueProblem('email_not_verified')
  const email = caller?.email ?? visitor.email
  const mayConfirm =
    product.free === 'email' && (caller !== null || !deps.config.signUp.invitedOnly)
  if (email === undefined || !mayConfirm) throw storefrontProblem('not_signed_in')
  await mailLink(deps, product, email, visitor)
  return '/checkout/sent'
}

/** Whether the address has an account changes neither the reply nor the email. */
async function mailLink(
  deps: FreeDeps,
  product: CatalogueProduct,
  email: string,
  { address, locale }: Visitor,
): Promise<void> {
  const { config, db, limiter } = deps
  requireAllowedDomain(deps, email)
  if (config.limits.general !== null) {
    const hit = await limiter.hit('free-product', addressKey(address), PER_ADDRESS)
    if (!hit.allowed) throw rateProblem(hit)
    // The owner of the address already has emails of this hour with working links.
    if (!(await countEmail(deps, 'free-product-emails', email))) return
  }
  await transaction(db, async (tx) => {
    const url = await issueFreeClaim(deps, tx, { email, tier: product.tier, locale })
    await sendMail(deps, tx, freeProductEmail(deps, { id: null, email, locale }, product, url))
  })
}
