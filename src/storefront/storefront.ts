/**
 * The shop: a separate server with pages and cookies, for one-time purchases, their license keys
 * and downloads. A purchase is recorded once, by whichever comes first: the webhook, the returning
 * buyer, or a later check.
 */
import type { Billing } from '#billing/billing.ts'
import { billingProblem } from '#billing/problems.ts'
import type { Processor } from '#billing/processor.ts'
import { listAddresses } from '#identity/account/addresses.ts'
import type { SessionsElsewhere } from '#identity/deps.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import { deviceCookie } from '#identity/sign-in/device-cookie.ts'
import type { Mail } from '#mail/mail.ts'
import { HOUR_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Authenticators } from '#platform/http/access-control.ts'
import type { Tag } from '#platform/http/openapi.ts'
import type { Platform } from '#platform/platform.ts'
import type { ErasedAddress, Room } from '#platform/room.ts'
import { forgetMessages, messagesOfAddresses } from './contact/contact.ts'
import { forgetStaff } from './contact/inbox.ts'
import { openCountries } from './downloads/countries.ts'
import { LocalPacks } from './downloads/local-packs.ts'
import * as downloadStore from './downloads/store.ts'
import * as tokenStore from './downloads/token-store.ts'
import { storefrontErrorDialect } from './errors.ts'
import { handleJobs } from './jobs.ts'
import { LicenseSigningKeys } from './licences/signing-keys.ts'
import * as activationStore from './licences/store.ts'
import { UPDATE_ENDS_JOB } from './orders/update-ends.ts'
import { forgetCheckouts } from './payments/checkout.ts'
import { PAYMENT_EVENTS } from './payments/payment-events.ts'
import { applyPaymentEvent, unrecordedPayments } from './payments/payments.ts'
import { storefrontProblem } from './problems.ts'
import type { LeaveOut } from './products/file-store.ts'
import { ProductList } from './products/product-list.ts'
import { openProducts } from './products/products.ts'
import { followPayment } from './purchases/purchases.ts'
import * as purchaseStore from './purchases/store.ts'
import { RELEASE_EMAILS_JOB } from './releases/release-emails.ts'
import * as releaseStore from './releases/store.ts'
import { type StorefrontDeps, storefrontRoutes } from './routes.ts'
import {
  findStoreCaller,
  listLiveSessions,
  listSessions,
  removeSession,
  removeSessions,
  SESSION_COOKIE,
} from './sessions/sessions.ts'
import { forgetWithdrawals, listOfAddresses } from './withdrawals/withdrawals.ts'

const EXPORTED_MAX = 10_000

const problems = {
  ...identityProblem.catalogue,
  ...billingProblem.catalogue,
  ...storefrontProblem.catalogue,
}
const TAGS: readonly Tag[] = [
  { name: 'session', description: 'Sign-in by cookie' },
  { name: 'checkout', description: 'Buying a product' },
  { name: 'purchases', description: 'What was bought, and its license keys' },
  { name: 'licenses', description: 'Activations and offline licenses of sold programs' },
  { name: 'downloads', description: 'The encrypted archives' },
  { name: 'contact', description: 'Messages to the team' },
].map((tag) => ({ ...tag, problems, errors: storefrontErrorDialect }))

export type StorefrontNeeds = {
  mail: Mail
  /** Null: billing is not configured. */
  processor: Processor | null
  /** Receives the payment processor's events for all rooms. */
  billing: Pick<
    Billing,
    'addListener' | 'addFollower' | 'addSeller' | 'refundPayment' | 'listPlans'
  >
  identity: Pick<Identity, 'checkCredentials' | 'requestEmailedCode' | 'checkEmailedCode'>
}

export type Storefront = Room &
  Pick<StorefrontDeps, 'products' | 'productList'> & { session: Authenticators['session'] }

export async function createStorefront(
  platform: Pick<
    Platform,
    | 'config'
    | 'db'
    | 'clock'
    | 'jobs'
    | 'inbox'
    | 'secrets'
    | 'limiter'
    | 'log'
    | 'business'
    | 'bus'
  >,
  { mail, processor, billing, identity }: StorefrontNeeds,
): Promise<Storefront> {
  const { config, inbox } = platform
  const productList = await ProductList.open(platform)
  const deps: StorefrontDeps = {
    ...platform,
    productList,
    mail,
    processor,
    listPlans: billing.listPlans,
    checkCredentials: identity.checkCredentials,
    emailedCodes: {
      request: identity.requestEmailedCode,
      check: identity.checkEmailedCode,
    },
    deviceCookie: deviceCookie({ url: config.urls.storefront, name: 'store_device', path: '/' }),
    products: openProducts(config.products, {
      clock: platform.clock,
      leaveOut: warnOnce(platform.log),
      tell: (error) =>
        platform.log.warn({ err: error }, 'the products cannot be read; what was read last serves'),
    }),
    countryOf: openCountries(config.geoipDb, platform.log),
    signingKeys: new LicenseSigningKeys(platform),
  }

  handleJobs({ ...deps, inbox }, billing)
  const packs = new LocalPacks(deps)
  if (config.serve.has('storefront')) packs.follow()

  let stop = () => {}
  if (processor) billing.addListener(PAYMENT_EVENTS)
  billing.addSeller({
    findUnrecorded: (db, sold) => unrecordedPayments(deps, db, sold),
    record: (paymentIntentId) =>
      applyPaymentEvent(deps, { kind: 'paid-somewhere', paymentIntentId }),
  })
  billing.addFollower((...change) => followPayment(deps, ...change))

  return {
    server: 'storefront',
    productList,
    products: deps.products,
    tags: TAGS,
    routes: (app) => storefrontRoutes(app, deps),
    session: {
      cookie: SESSION_COOKIE,
      authenticate: (token) => findStoreCaller(deps, token),
      problem: () => storefrontProblem('not_signed_in'),
    },
    erase: eraseStorefront,
    eraseSlices: [downloadStore.eraseSlice],
    collect: collectStorefront,
    start() {
      stop = scheduleNotices(deps)
    },
    stop: () => stop(),
    drain: (ms) => packs.drain(ms),
    close: () => productList.close(),
  }
}

/** Enqueues the hourly notices, now and every hour. Returns a function that stops it. */
function scheduleNotices({ jobs, db, log }: Pick<Platform, 'jobs' | 'db' | 'log'>): () => void {
  const enqueue = () => {
    for (const job of [UPDATE_ENDS_JOB, RELEASE_EMAILS_JOB])
      jobs
        .enqueue(db, job, {}, { key: job })
        .catch((error) => log.warn({ err: error, job }, 'hourly notices could not be enqueued'))
  }
  enqueue()
  const timer = setInterval(enqueue, HOUR_MS).unref()
  return () => clearInterval(timer)
}

/** Logs each file that is left out of a release, once per process. */
function warnOnce(log: Platform['log']): LeaveOut {
  const reportedNames = new Set<string>()
  return (path, reason) => {
    if (reportedNames.has(path)) return
    reportedNames.add(path)
    log.warn({ path, reason }, 'a file of a product is left out of its downloads')
  }
}

/**
 * Deletes the data of a user, except what accounting needs. Runs before the user's row is deleted.
 */
async function eraseStorefront(
  tx: Db,
  userId: string,
  addresses: readonly ErasedAddress[],
): Promise<void> {
  for (const { key, since } of addresses) {
    await forgetMessages(tx, key, since)
    await forgetWithdrawals(tx, key, since)
  }
  await forgetStaff(tx, userId)
  await removeSessions(tx, userId)
  await forgetCheckouts(tx, userId)
  await purchaseStore.forgetUser(tx, userId)
  await activationStore.forgetUser(tx, userId)
  await tokenStore.forgetUser(tx, userId)
  await releaseStore.forgetUser(tx, userId)
}

/**
 * Returns the storefront's part of a user's export, without license keys, because they are
 * passwords.
 */
async function collectStorefront(db: Db, userId: string) {
  const proven = (await listAddresses(db, userId))
    .filter((address) => address.proven)
    .map(({ key }) => key)
  const [purchases, activations, tokens, releases, downloads, sessions, messages, withdrawals] =
    await Promise.all([
      purchaseStore.listOfUser(db, userId),
      activationStore.listOfUser(db, userId),
      tokenStore.listOfUser(db, userId),
      releaseStore.listOfUser(db, userId),
      downloadStore.listOfUser(db, userId, undefined, EXPORTED_MAX),
      listSessions(db, userId),
      proven.length === 0 ? [] : messagesOfAddresses(db, proven),
      proven.length === 0 ? [] : listOfAddresses(db, proven),
    ])
  return {
    purchases: purchases.map(({ license_hash, license_sealed, ...purchase }) => purchase),
    activations,
    download_tokens: tokens,
    release_emails: releases,
    downloads,
    store_sessions: sessions,
    contact_messages: messages,
    withdrawals,
  }
}

/** A user's storefront sessions, for the account's list and for ending all sessions. */
export const storeSessions: SessionsElsewhere = {
  list: listLiveSessions,
  end: removeSession,
  endAll: removeSessions,
}
