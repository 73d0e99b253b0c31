/**
 * The hosted checkout of a visitor without an account. The payer's address decides who gets the
 * purchase, and only a link that is mailed to that address opens it. So a reply never depends on
 * whether the address has an account.
 */
import { countCheckout } from '#billing/metrics/checkout-days.ts'
import { isInvalid, mapProcessorErrors, requireProcessor, withTimeout } from '#billing/processor.ts'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { requireAllowedDomain } from '#identity/account/sign-up-rules.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { addressKey } from '#platform/http/address.ts'
import type { Locale } from '#platform/locale.ts'
import { Problem } from '#platform/problem.ts'
import { type RateLimiter, rateProblem } from '#platform/rate-limiter.ts'
import { findPromotion } from '../orders/promotions.ts'
import { quoteNew } from '../orders/quotes.ts'
import { storefrontProblem } from '../problems.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import { requireWaiver } from '../withdrawals/waiver.ts'
import { buildSession } from './checkout-session.ts'
import { FOLLOW_UP_JOB, markGuest, type PaymentDeps } from './payments.ts'

export type GuestDeps = PaymentDeps & ProductDeps & { limiter: RateLimiter }

/** Each checkout is an object at the processor. */
const PER_ADDRESS = { requests: 20, seconds: 3600 }

/**
 * Returns the URL where a guest pays. @throws Problem 400 for the address's domain or the code, 401
 * where accounts need an invitation, 409, 429, 502 and 503
 */
export async function openGuestCheckout(
  deps: GuestDeps,
  product: CatalogueProduct,
  form: { email: string; code?: string | undefined; waiver?: string | undefined },
  { address, locale }: { address: string; locale: Locale | null },
): Promise<string> {
  const { config, limiter, processor } = deps
  const { email, code, waiver } = form
  if (config.signUp.invitedOnly) throw storefrontProblem('not_signed_in')
  requireAllowedDomain(deps, email)
  requireWaiver(waiver)
  if (config.limits.general !== null) {
    const hit = await limiter.hit('guest-checkout', addressKey(address), PER_ADDRESS)
    if (!hit.allowed) throw rateProblem(hit)
  }
  if (!(await isForSale(deps, product.tier))) throw storefrontProblem('not_for_sale')
  const { tier } = product
  const quote = quoteNew(product)
  return withTimeout(
    (async () => {
      const promotion =
        code === undefined ? null : await findPromotion(deps, code, { userId: null, quote })
      const members = deps.productList.listMembers(product).map((member) => member.tier)
      const sale = { ...quote, members, promotion, waiver: waiver ?? null }
      const buyer = { guest: markGuest(deps.secrets, tier) }
      const session = await mapProcessorErrors(
        requireProcessor(processor).checkout.sessions.create({
          ...buildSession(config, sale, buyer, {
            customer_email: email,
            ...(locale ? { locale } : {}),
          }),
          success_url: `${config.urls.storefront}/purchased?session_id={CHECKOUT_SESSION_ID}`,
        }),
      ).catch((error: unknown) => {
        if (promotion && error instanceof Problem && isInvalid(error.cause))
          throw storefrontProblem('promotion_code_unusable')
        throw error
      })
      return keepCheckout(deps, session)
    })(),
  )
}

/** Lets a job look at the payment later, in case the guest does not return and every event is lost. */
async function keepCheckout(
  { db, clock, jobs }: Pick<GuestDeps, 'db' | 'clock' | 'jobs'>,
  { id, url }: { id: string; url: string | null },
): Promise<string> {
  if (!url) throw new Error(`the processor made checkout ${id} without an address`)
  const now = clock.now()
  await transaction(db, async (tx) => {
    await jobs.enqueue(tx, FOLLOW_UP_JOB, { sessionId: id }, { runAt: plus(now, HOUR_MS) })
    await countCheckout(tx, 'purchase', now)
  })
  return url
}
