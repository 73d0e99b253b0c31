/**
 * Subscriptions: plans, links to the processor's pages, and a subscription state that follows the
 * processor's. Only apply-state.ts writes what a user has paid for, through identity's
 * setSubscription.
 */
import type { User } from '#identity/users.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { END_CUSTOMER_JOB, endCustomer, eraseBilling } from './account-deletion.ts'
import { findAccount } from './accounts.ts'
import { applyEvent } from './apply-event.ts'
import { endGracePeriods, GRACE_JOB } from './apply-state.ts'
import { BILLING_EVENTS, type BillingEvent, INBOX_SOURCE } from './billing-events.ts'
import {
  CANCEL_JOB,
  type CancelRequest,
  cancelSubscription,
  listCancellations,
} from './cancellations.ts'
import { type ChangePreview, type ChangeRequest, changePlan, previewChange } from './change.ts'
import { emailChangeConfirmation } from './change-confirmation.ts'
import { listCustomers } from './customers.ts'
import { type Deal, listDeals } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { type DisagreementReport, findAllDisagreements } from './disagreements.ts'
import { REPLACE_JOB, type ReplaceRequest, replaceSubscription } from './double-payments.ts'
import { FreeAllowance } from './free-allowance.ts'
import { READ_INVOICES_JOB, saveUserInvoices } from './invoice-list.ts'
import { exportSubscriptionChanges } from './metrics/subscription-changes.ts'
import type { EventListener } from './missed-events.ts'
import {
  applyMoneyEvent,
  MONEY_EVENTS,
  MONEY_SOURCE,
  type MoneyEvent,
} from './money/money-events.ts'
import { exportInvoices, exportPayments, type PaymentFollower } from './money/payments.ts'
import type { Seller } from './money/proof.ts'
import { type RefundedAmount, refundPayment } from './money/refunds.ts'
import { listNotices } from './notices.ts'
import { registerSubscriptionMetrics } from './subscription-metrics.ts'
import './money/tables.ts'
import { createPlans, type PlanView } from './plans.ts'
import { type DealRequest, listSubscribers, type Move, makeDeal, movePrice } from './price-moves.ts'
import { billingProblem } from './problems.ts'
import { mapProcessorErrors, type Processor, requireProcessor, withTimeout } from './processor.ts'
import {
  enqueueSync,
  RECONCILE_DELAYS_MS,
  RECONCILE_JOB,
  type Reconciled,
  type ReconcilerDeps,
  reconcile,
  scheduleReconciliation,
} from './reconciliation.ts'
import {
  followPayment,
  REVERSAL_JOB,
  SUSPEND_JOB,
  type SuspendRequest,
  suspendSubscription,
} from './reversals.ts'
import { billingRoutes } from './routes.ts'
import { singleFlight } from './single-flight.ts'
import { syncUser } from './sync.ts'

export type Billing = Room & {
  freeAllowance: FreeAllowance
  /** Registers a listener for missed events. Call before `start`. */
  addListener: (listener: EventListener) => void
  /**
   * Registers a follower that updates dependent rows in the transaction that changes a payment.
   * Call before `start`.
   */
  addFollower: (follower: PaymentFollower) => void
  /** Registers a room that records its own sales from payments. Call before `start`. */
  addSeller: (seller: Seller) => void
  /** Refunds a part of a payment in minor units, or everything that is left. */
  refundPayment: (id: string, amountCents?: number) => Promise<RefundedAmount>
  /** Previews and makes a change of a user's plan; see `change.ts`. */
  previewChange: (userId: string, priceId: string) => Promise<ChangePreview>
  changePlan: (userId: string, change: ChangeRequest) => Promise<void>
  /** Emails a customer the checkout of a change that their bank must confirm. */
  emailChangeConfirmation: (userId: string, priceId: string) => Promise<void>
  /** Reads everything from the processor; returns null when billing is not configured. */
  sync: () => Promise<Reconciled | null>
  /** Enqueues the same as a job in the transaction. */
  enqueueSync: (tx: Db) => Promise<void>
  /**
   * Returns the differences that a sync would repair.
   * @throws Problem 503 `Billing is not configured`
   */
  reportDisagreements: () => Promise<DisagreementReport>
  /** @throws PriceProblem; Problem 503 `Billing is not configured`, as do the next two. */
  makeDeal: (user: User, request: DealRequest) => Promise<Deal>
  /** Returns the ids of users who subscribe at the old price. */
  listSubscribers: (from: string, to: string) => Promise<string[]>
  movePrice: (from: string, to: string) => Promise<Move>
  /** Lists the plans on offer with the processor's prices. */
  listPlans: () => Promise<PlanView[]>
}

export function createBilling(
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
    | 'metrics'
    | 'business'
  >,
  client: Processor | null,
): Billing {
  const { config, db, clock, jobs, inbox, limiter, log, secrets, business } = platform
  // Without the webhook secret no event can be trusted, so payments would go unnoticed.
  const processor = config.processor.webhookSecret === null ? null : client
  const deps: BillingDeps = {
    config,
    db,
    clock,
    jobs,
    inbox,
    limiter,
    log,
    secrets,
    business,
    processor,
    syncs: singleFlight(),
  }
  const listeners: EventListener[] = processor ? [BILLING_EVENTS] : []
  if (client) listeners.push(MONEY_EVENTS)
  // The processor's list needs no webhook secret, and other rooms may listen while billing is not
  // configured.
  const reader: BillingDeps = { ...deps, processor: client }
  const followers: PaymentFollower[] = [
    (tx, payment, before) => followPayment(deps, tx, payment, before),
  ]
  const sellers: Seller[] = []
  const reconciler: ReconcilerDeps = { ...reader, followers, listeners, sellers }
  const plans = createPlans(deps)
  let stop = () => {}
  registerSubscriptionMetrics(platform)

  inbox.handle<BillingEvent>(INBOX_SOURCE, (event, { settle }) => applyEvent(deps, event, settle))
  inbox.handle<MoneyEvent>(MONEY_SOURCE, (event, { settle }) =>
    applyMoneyEvent(reconciler, event, settle),
  )
  jobs.handle<{ customerId: string }>(END_CUSTOMER_JOB, ({ customerId }) =>
    endCustomer(deps, customerId),
  )
  jobs.handle<CancelRequest>(CANCEL_JOB, async (job) => void (await cancelSubscription(deps, job)))
  jobs.handle<ReplaceRequest>(REPLACE_JOB, (job) =>
    replaceSubscription({ ...deps, followers }, job),
  )
  jobs.handle<SuspendRequest>(SUSPEND_JOB, (job) =>
    suspendSubscription(deps, job, (userId) => syncUser(deps, userId)),
  )
  jobs.handle<{ userId: string }>(
    REVERSAL_JOB,
    async ({ userId }) => void (await syncUser(reader, userId)),
  )
  jobs.handle<{ userId: string }>(READ_INVOICES_JOB, ({ userId }) => saveUserInvoices(deps, userId))
  jobs.handle<object>(GRACE_JOB, () => endGracePeriods(deps, (userId) => syncUser(deps, userId)))
  jobs.handle<{ everyone?: boolean; byClockAlone?: boolean }>(
    RECONCILE_JOB,
    async (job) => void (await reconcile(reconciler, job)),
    { lane: 'long', delaysMs: RECONCILE_DELAYS_MS },
  )

  return {
    tags: [
      {
        name: 'billing',
        description: 'Plans and subscriptions',
        problems: billingProblem.catalogue,
      },
    ],
    routes: (app) => billingRoutes(app, deps, plans),
    erase: (tx, userId) => eraseBilling(deps, tx, userId),
    collect: async (from, userId) => ({
      billing: await findAccount(from, userId),
      billing_customers: await listCustomers(from, userId),
      payments: await exportPayments(from, userId),
      invoices: await exportInvoices(from, userId),
      billing_notices: await listNotices(from, userId),
      cancellations: await listCancellations(from, userId),
      deals: await listDeals(from, userId),
      subscription_changes: await exportSubscriptionChanges(from, userId),
    }),
    freeAllowance: new FreeAllowance(platform),
    addListener: (listener) => void listeners.push(listener),
    addFollower: (follower) => void followers.push(follower),
    addSeller: (seller) => void sellers.push(seller),
    sync: async () =>
      client && listeners.length > 0 ? reconcile(reconciler, { everyone: true }) : null,
    refundPayment: (id, amountCents) => refundPayment(reconciler, id, amountCents),
    previewChange: (userId, priceId) => withTimeout(previewChange(deps, userId, priceId)),
    changePlan: (userId, change) => withTimeout(changePlan(deps, userId, change)),
    emailChangeConfirmation: (userId, priceId) =>
      withTimeout(emailChangeConfirmation(deps, userId, priceId)),
    async enqueueSync(tx) {
      requireProcessor(client)
      await enqueueSync(deps, tx)
    },
    async reportDisagreements() {
      requireProcessor(client)
      return mapProcessorErrors(findAllDisagreements(reconciler))
    },
    makeDeal: (user, request) => makeDeal(deps, user, request),
    listSubscribers: (from, to) => listSubscribers(deps, from, to),
    movePrice: (from, to) => movePrice(deps, from, to),
    listPlans: () => plans.list(),
    /** Reconciles now and hourly. */
    start() {
      if (client && listeners.length > 0) stop = scheduleReconciliation(deps)
    },
    stop: () => stop(),
  }
}
