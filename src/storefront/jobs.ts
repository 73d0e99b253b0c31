/** Binds the storefront's jobs and the processor's events to their handlers. */
import type { Billing } from '#billing/billing.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { NOTIFY_DELAYS_MS, NOTIFY_JOB, notifySupport } from './contact/contact.ts'
import { prepareRelease } from './downloads/archives.ts'
import { CHECKSUM_JOB, noteChecksum } from './downloads/downloads.ts'
import { announceUpdateEnds, UPDATE_ENDS_JOB } from './orders/update-ends.ts'
import { closeCheckouts } from './payments/checkout.ts'
import { INBOX_SOURCE, type PaymentEvent } from './payments/payment-events.ts'
import { applyPaymentEvent, FOLLOW_UP_JOB, followUpCheckout } from './payments/payments.ts'
import { PACK_JOB, packUpload } from './products/release-packing.ts'
import { confirmPurchase, reportPaidTwice } from './purchases/confirmation.ts'
import {
  CLOSE_CHECKOUTS_JOB,
  CONFIRMATION_JOB,
  PAID_TWICE_JOB,
  PREPARE_JOB,
} from './purchases/purchases.ts'
import { RECOVERY_JOB, sendKeys } from './purchases/recovery.ts'
import { RELEASE_EMAILS_JOB, sendReleaseEmails } from './releases/release-emails.ts'
import type { StorefrontDeps } from './routes.ts'
import { refundWithdrawal } from './withdrawals/refunds.ts'
import { WITHDRAWAL_REFUND_JOB } from './withdrawals/withdrawals.ts'

type Deps = StorefrontDeps & Pick<Platform, 'inbox' | 'jobs' | 'log'>

export function handleJobs(deps: Deps, billing: Pick<Billing, 'refundPayment'>): void {
  const { inbox, jobs, log, mail } = deps

  inbox.handle<PaymentEvent>(INBOX_SOURCE, (event, { settle }) =>
    applyPaymentEvent(deps, event, settle),
  )
  jobs.handle<{ purchaseId: string }>(
    CONFIRMATION_JOB,
    ({ purchaseId }, { id }) => confirmPurchase(deps, purchaseId, id),
    { lane: 'urgent', needs: mail.neighbour },
  )
  jobs.handle<{ userId: string; tier: Tier }>(
    PAID_TWICE_JOB,
    (job, { id }) => reportPaidTwice(deps, job, id),
    { lane: 'bulk', needs: mail.neighbour },
  )
  jobs.handle<{ userId: string; purchaseId: string }>(CLOSE_CHECKOUTS_JOB, (job) =>
    closeCheckouts(deps, job),
  )
  jobs.handle<{ sessionId: string }>(FOLLOW_UP_JOB, ({ sessionId }) =>
    followUpCheckout(deps, sessionId),
  )
  jobs.handle<{ purchaseId: string; version: string; etag: string }>(
    CHECKSUM_JOB,
    (job) => noteChecksum(deps, job),
    { lane: 'long' },
  )
  // Only prepares; the first download reports errors of a product.
  jobs.handle<{ tier: Tier }>(
    PREPARE_JOB,
    ({ tier }) =>
      prepareRelease(deps, tier).catch((error) =>
        log.error({ err: error, tier }, 'a release could not be prepared'),
      ),
    { lane: 'long' },
  )
  jobs.handle<{ tier: Tier; version: string }>(PACK_JOB, (job) => packUpload(deps, job), {
    lane: 'long',
  })
  jobs.handle<{ id: string }>(NOTIFY_JOB, ({ id }) => notifySupport(deps, id), {
    lane: 'bulk',
    delaysMs: NOTIFY_DELAYS_MS,
  })
  jobs.handle<{ email: string }>(RECOVERY_JOB, ({ email }, { id }) => sendKeys(deps, email, id), {
    lane: 'urgent',
    needs: mail.neighbour,
  })

  jobs.handle<{ paymentId: string }>(WITHDRAWAL_REFUND_JOB, (job) =>
    refundWithdrawal({ ...deps, billing }, job),
  )
  jobs.handle<object>(UPDATE_ENDS_JOB, () => announceUpdateEnds(deps), { lane: 'bulk' })
  jobs.handle<object>(RELEASE_EMAILS_JOB, () => sendReleaseEmails(deps), { lane: 'bulk' })
}
