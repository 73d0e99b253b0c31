/** Every email of the shop and of the setup, and every notice to the operator, from the same facts. */
import * as operatorNotices from '#billing/operator-notices.ts'
import type { SubscriptionFacts } from '#billing/subscription-state.ts'
import type { Email } from '#mail/email.ts'
import { transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import { composeTestEmail } from '#setup/mail.ts'
import { settingsChangedEmail } from '#setup/notice.ts'
import { confirmationEmail, notificationEmail } from '#storefront/contact/contact.ts'
import { replyEmail } from '#storefront/contact/inbox.ts'
import { updateEndEmail } from '#storefront/orders/update-ends.ts'
import { ProductList } from '#storefront/products/product-list.ts'
import * as purchaseEmails from '#storefront/purchases/emails.ts'
import type { PurchaseRow } from '#storefront/purchases/store.ts'
import { releaseEmail } from '#storefront/releases/release-emails.ts'
import * as withdrawalEmails from '#storefront/withdrawals/emails.ts'
import type { SandboxMail, TestApp } from './app.ts'

const AT = '2026-11-27T05:00:00.000Z'

/** The same in every language, for texts that a person or a program writes. */
const NEUTRAL_WORD = 'ci'

const PURCHASE = {
  id: '00000000-0000-4000-8000-000000000001',
  from_id: null,
  user_id: null,
  tier: 'basic',
  status: 'refunded',
  payment_ref: 'pi_1',
  amount_cents: 2900,
  currency: 'usd',
  max_downloads: 5,
  created_at: AT,
  entitled_until: '2027-11-27T05:00:00.000Z',
  withdrawn_at: AT,
  waiver_json: null,
} as PurchaseRow

const BUNDLE = { ...PURCHASE, bundle_id: PURCHASE.id }
const FREE = { ...PURCHASE, payment_ref: 'free_1', amount_cents: 0 }
const UPGRADE = { ...PURCHASE, from_id: PURCHASE.id, entitled_until: null, withdrawn_at: null }

/** In the language of the buyer and of the brand, which the caller sets. */
export async function composeShopEmails(app: TestApp, locale: Locale): Promise<[string, Email][]> {
  const { config, platform } = app
  const productList = await ProductList.read(platform)
  const deps = { config, productList, secrets: platform.secrets }
  const to = { id: 'ada', email: 'ada@example.com', locale }
  const licenseKey = 'LK-1'
  const bill = { name: 'Invoice', url: 'https://example.com/bill' } as const
  const url = 'https://example.com/claim'
  const message = {
    id: '1',
    name: 'Ada',
    email: to.email,
    email_key: to.email,
    subject: 'support' as const,
    message: NEUTRAL_WORD,
    created_at: AT,
    notified_at: null,
    assigned_to: null,
    closed_at: null,
    locale,
  }
  const withdrawal = {
    id: '1',
    order_id: PURCHASE.id,
    email: to.email,
    email_key: to.email,
    reason: null,
    created_at: AT,
    confirmed_at: AT,
    user_id: to.id,
    locale,
  }
  const releases = ['1.0.0', '1.1.0'].map((version) => ({
    tier: 'basic',
    version,
    publishedAt: AT,
    notes: '',
    folder: '',
  }))
  const compose = purchaseEmails
  const emails: Record<string, Email[]> = {
    purchase: [
      compose.purchaseEmail(deps, to, PURCHASE, { licenseKey, members: [], bill, claim: null }),
      compose.purchaseEmail(deps, to, BUNDLE, {
        licenseKey,
        members: [{ tier: 'basic', licenseKey }],
        bill,
        claim: null,
      }),
      compose.purchaseEmail(deps, to, FREE, { licenseKey, members: [], bill: null, claim: null }),
      ...(['account', 'purchase'] as const).map((claimable) =>
        compose.purchaseEmail(deps, to, UPGRADE, {
          licenseKey,
          members: [],
          bill: { ...bill, name: 'Receipt' },
          claim: { url, claimable },
        }),
      ),
    ],
    freeProduct: [compose.freeProductEmail(deps, to, { name: 'Basic' }, url)],
    keyRecovery: [1, 2].map((count) =>
      compose.keyRecoveryEmail(
        deps,
        to,
        Array.from({ length: count }, () => ({ purchase: PURCHASE, licenseKey })),
      ),
    ),
    revoked: (['dispute', 'seller'] as const).flatMap((reason) => [
      compose.revokedEmail(deps, to, PURCHASE, { licenseKey, members: [], reason }),
      compose.revokedEmail(deps, to, BUNDLE, {
        licenseKey,
        members: [{ tier: 'basic', licenseKey }],
        reason,
      }),
    ]),
    sale: [PURCHASE, UPGRADE].map((purchase) => compose.saleEmail(deps, null, purchase)),
    keptPayment: [compose.keptPaymentEmail(deps, null, UPGRADE)],
    paidTwice: [compose.paidTwiceEmail(deps, to.email, PURCHASE, [UPGRADE])],
    receipt: [
      ...RIGHTS.map((right) =>
        withdrawalEmails.receiptEmail(deps, withdrawal, addWaiver(locale), right),
      ),
      withdrawalEmails.receiptEmail(deps, withdrawal, BUNDLE, 'open'),
    ],
    withdrawalNotice: RIGHTS.map((right) =>
      withdrawalEmails.withdrawalNoticeEmail(deps, withdrawal, PURCHASE, right),
    ),
    unknownOrder: [withdrawalEmails.unknownOrderEmail(config, withdrawal)],
    failedRefund: [PURCHASE, UPGRADE].map((one) => withdrawalEmails.failedRefundEmail(deps, one)),
    contact: [notificationEmail(config, message), confirmationEmail(config, message)],
    reply: [replyEmail(config, message, NEUTRAL_WORD)],
    updateEnd: [true, false].map((isAhead) => updateEndEmail(deps, to, PURCHASE, isAhead)),
    release: [releases, releases.slice(1)].map((list) => releaseEmail(deps, to, list)),
    test: [composeTestEmail(config, to, 'shop@example.com')],
    settingsChanged: [
      settingsChangedEmail(config.brand, {
        to,
        actorEmail: 'root@example.com',
        names: ['SMTP_URL'],
        at: AT,
      }),
    ],
  }
  return Object.entries(emails).flatMap(([name, list]) =>
    list.map((email): [string, Email] => [name, email]),
  )
}

const RIGHTS = ['open', 'waived', 'late', 'ended', 'free'] as const

const addWaiver = (locale: Locale): PurchaseRow => ({
  ...PURCHASE,
  waiver_json: { version: locale === 'de' ? '2026-11-27-de' : '2026-11-26', at: AT },
})

/** Sends every notice of billing and of failed jobs, in the brand's language. */
export async function sendOperatorNotices(app: TestApp, about: string): Promise<SandboxMail[]> {
  const { platform, config } = app
  const { supportEmail } = config.mail
  const before = new Set((await app.mail(supportEmail)).map(({ id }) => id))
  const dispute = {
    id: about,
    user_id: null,
    payment_id: 'pi_1',
    amount_cents: 2900,
    currency: 'usd',
    reason: null,
  } as unknown as Parameters<typeof operatorNotices.reportDispute>[2]
  const subscription = { id: about, priceIds: [about] } as unknown as SubscriptionFacts
  await transaction(platform.db, async (tx) => {
    for (const kind of ['subscription', 'purchase'] as const)
      for (const state of ['open', 'won', 'lost'] as const)
        await operatorNotices.reportDispute(
          platform,
          tx,
          { ...dispute, id: `${about}-${kind}` },
          { state, payment: { id: 'pi_1', kind, user_id: null }, due: 1_800_000_000 },
        )
    const { reportRefundedDouble, reportSeveralSubscriptions, reportUnknownPrice } = operatorNotices
    const double = { subscriptionId: about, insteadOf: 'sub_1', refunded: '29,00 $' }
    await reportRefundedDouble(platform, tx, { email: 'ada@example.com' }, double)
    await reportSeveralSubscriptions(platform, tx, 'nobody', [subscription])
    await reportUnknownPrice(platform, tx, 'nobody', subscription)
  })
  const kind = `${NEUTRAL_WORD}.${about}`
  const fail = () => Promise.reject(new Error(NEUTRAL_WORD))
  platform.jobs.handle(kind, fail, { delaysMs: [] })
  await platform.jobs.enqueue(platform.db, kind, {})
  return (await app.mail(supportEmail)).filter(({ id }) => !before.has(id))
}
