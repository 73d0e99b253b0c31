// Guards the shop: what was paid for, who may download it, and the keys. A server of its own, with pages and cookies of its own.
// One thing to know: a purchase is made by whichever hears of the payment first (webhook, returning buyer, later question), once.
import type { Stripe } from 'stripe'
import type { Billing } from '#billing/billing.ts'
import { RECONCILE_DELAYS_MS } from '#billing/reconciliation.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { addressesOf } from '#identity/account/addresses.ts'
import type { SessionsElsewhere } from '#identity/deps.ts'
import type { Identity } from '#identity/identity.ts'
import { checkCredentials } from '#identity/sign-in/credentials.ts'
import { findUser } from '#identity/users.ts'
import type { Mail } from '#mail/mail.ts'
import type { Db } from '#platform/db/db.ts'
import type { Authenticators } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { type ContactDeps, NOTIFY_DELAYS_MS, NOTIFY_JOB, notify } from './contact/contact.ts'
import * as contactStore from './contact/store.ts'
import { prepareRelease } from './downloads/archives.ts'
import { openCountries } from './downloads/countries.ts'
import { CHECKSUM_JOB, type DownloadDeps, noteChecksum } from './downloads/downloads.ts'
import * as downloadStore from './downloads/store.ts'
import { type CheckoutDeps, forgetCheckouts } from './payments/checkout.ts'
import type { PaymentFact } from './payments/payment-events.ts'
import { PAYMENT_EVENTS } from './payments/payment-listener.ts'
import { SWEEP_JOB, schedulePaymentSweep, sweepPayments } from './payments/payment-sweep.ts'
import {
  FOLLOW_UP_JOB,
  followUpCheckout,
  handlePaymentFact,
  INBOX_SOURCE,
  type PaymentDeps,
  payerOf,
} from './payments/payments.ts'
import { storefrontProblem } from './problems.ts'
import type { LeaveOut } from './products/file-store.ts'
import { openProducts } from './products/products.ts'
import { paidTwiceEmail, purchaseEmail } from './purchases/emails.ts'
import { CONFIRMATION_JOB, openLicenseKey, PAID_TWICE_JOB, PREPARE_JOB } from './purchases/purchases.ts'
import { RECOVERY_JOB, type RecoveryDeps, sendKeys } from './purchases/recovery.ts'
import * as purchaseStore from './purchases/store.ts'
import { storefrontRoutes } from './routes.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from './sessions/sessions.ts'
import * as sessionStore from './sessions/store.ts'

const EXPORTED_MAX = 10_000

export type StorefrontNeeds = {
  mail: Mail
  /** Null: billing is not configured. */
  processor: Stripe | null
  /** Hears of the processor's events for all. */
  billing: Pick<Billing, 'listen'>
  identity: Pick<Identity, 'deps'>
}

export type StorefrontDeps = Platform &
  SessionDeps &
  CheckoutDeps &
  ContactDeps &
  DownloadDeps &
  PaymentDeps &
  RecoveryDeps

type Ownership = { userId: string; tier: Tier }

export type Storefront = Room & { session: Authenticators['session'] }

export function createStorefront(
  platform: Platform,
  { mail, processor, billing, identity }: StorefrontNeeds,
): Storefront {
  const { config, jobs, inbox } = platform
  const deps: StorefrontDeps = {
    ...platform,
    mail,
    processor,
    checkCredentials: (credentials) => checkCredentials(identity.deps, credentials),
    products: openProducts(config.products, {
      clock: platform.clock,
      leaveOut: warnOnce(platform.log),
      tell: (error) => platform.log.warn({ err: error }, 'the products cannot be read; what was read last serves'),
    }),
    countryOf: openCountries(config.geoipDb, platform.log),
  }

  inbox.handle<PaymentFact>(INBOX_SOURCE, (fact) => handlePaymentFact(deps, fact))
  jobs.handle<{ purchaseId: string }>(CONFIRMATION_JOB, (job, { id }) => confirmByMail(deps, job, id))
  jobs.handle<Ownership>(PAID_TWICE_JOB, (job, { id }) => tellPaidTwice(deps, job, id))
  jobs.handle<{ sessionId: string }>(FOLLOW_UP_JOB, ({ sessionId }) => followUpCheckout(deps, sessionId))
  jobs.handle<{ purchaseId: string; version: string; etag: string }>(CHECKSUM_JOB, (job) => noteChecksum(deps, job))
  // Only a warm-up: the first download says what is wrong with a product.
  jobs.handle<{ tier: Tier }>(PREPARE_JOB, ({ tier }) =>
    prepareRelease(deps, tier).catch((error) =>
      platform.log.error({ err: error, tier }, 'a release could not be prepared'),
    ),
  )
  jobs.handle<{ id: string }>(NOTIFY_JOB, ({ id }) => notify(deps, id), { delaysMs: NOTIFY_DELAYS_MS })
  jobs.handle<{ email: string }>(RECOVERY_JOB, ({ email }, { id }) => sendKeys(deps, email, id))

  jobs.handle<object>(SWEEP_JOB, async () => void (await sweepPayments(deps)), { delaysMs: RECONCILE_DELAYS_MS })
  if (processor) billing.listen(PAYMENT_EVENTS)
  let stop = () => {}

  return {
    server: 'storefront',
    routes: (app) => storefrontRoutes(app, deps),
    session: {
      cookie: SESSION_COOKIE,
      authenticate: (token) => findStoreCaller(deps, token),
      problem: () => storefrontProblem('not_signed_in'),
    },
    erase: eraseStorefront,
    collect: collectStorefront,
    /** Sweeps now and hourly. */
    start() {
      if (processor) stop = schedulePaymentSweep(deps)
    },
    close: () => stop(),
  }
}

/** A line for each file of a release that buyers will not get, once a start. */
function warnOnce(log: Platform['log']): LeaveOut {
  const told = new Set<string>()
  return (path, reason) => {
    if (told.has(path)) return
    told.add(path)
    log.warn({ path, reason }, 'a file of a product is left out of its downloads')
  }
}

/** Everything of a deleted user but what the books need. Runs while the user's row is still there. */
async function eraseStorefront(tx: Db, userId: string): Promise<void> {
  const user = await findUser(tx, userId)
  for (const { key, proven } of await addressesOf(tx, userId)) {
    // Who registers the address of another and leaves takes none of their messages along.
    await contactStore.forgetAddress(tx, key, proven || !user ? null : user.created_at)
  }
  await sessionStore.removeOfUser(tx, userId)
  await forgetCheckouts(tx, userId)
  await downloadStore.forgetUser(tx, userId)
  await purchaseStore.forgetUser(tx, userId)
}

/** What a user's export shows of the storefront. Keys are left out: they are passwords. */
async function collectStorefront(db: Db, userId: string) {
  const proven = (await addressesOf(db, userId)).filter((address) => address.proven).map(({ key }) => key)
  const [purchases, downloads, sessions, messages] = await Promise.all([
    purchaseStore.listOfUser(db, userId),
    downloadStore.listOfUser(db, userId, undefined, EXPORTED_MAX),
    sessionStore.listOfUser(db, userId),
    proven.length === 0 ? [] : contactStore.listOfAddresses(db, proven),
  ])
  return {
    purchases: purchases.map(({ license_hash, license_sealed, ...purchase }) => purchase),
    downloads,
    store_sessions: sessions,
    contact_messages: messages,
  }
}

/** A user's storefront sessions, for the account's list and for whatever ends the account's others. */
export const storeSessions: SessionsElsewhere = {
  list: sessionStore.listLive,
  end: sessionStore.removeOne,
  endAll: sessionStore.removeOfUser,
}

async function confirmByMail(deps: StorefrontDeps, { purchaseId }: { purchaseId: string }, messageId: string) {
  const { config, db, secrets, mail, log } = deps
  const purchase = await purchaseStore.findById(db, purchaseId)
  if (!purchase) return
  const user = purchase.user_id === null ? null : await findUser(db, purchase.user_id)
  // An account deleted while its payment was on its way: who paid gets what they paid for.
  const to = user?.email ?? (await payerOf(deps, purchase))
  if (!to) return log.error({ purchase: purchase.id }, 'a purchase has nobody to send its key to')
  await mail.deliver(purchaseEmail(config, to, purchase, openLicenseKey(secrets, purchase)), messageId)
}

/** A buyer who paid for a tier that they own wants one of the payments back: only the operator can say which. */
async function tellPaidTwice({ config, db, mail }: StorefrontDeps, { userId, tier }: Ownership, id: string) {
  const user = await findUser(db, userId)
  const [newest, ...others] = await purchaseStore.listOwned(db, userId, tier)
  if (!user || !newest || others.length === 0) return
  await mail.deliver(paidTwiceEmail(config, user.email, newest, others), id)
}
