/** Describes the events of a customer's timeline. */

import { describeEvent, readAddresses, readReason } from '../account/audit-words.ts'
import { EMAIL_STATES } from '../activity/email-states.ts'
import type { AuditEntry, CustomerEvent } from '../api/types.ts'
import { plural } from '../components/format.ts'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { describeCode } from '../shop/timeline.ts'
import { formatLastDay } from './last-day.ts'

export type TimelineItem = {
  id: string
  at: string
  kind:
    | 'paid'
    | 'refund'
    | 'dispute'
    | 'ended'
    | 'purchase'
    | 'call'
    | 'sign-in'
    | 'key'
    | 'change'
    | 'email'
  title: string
  details: string[]
  orderId: string | null
}

/** Names plans and products by their tier. */
export type TierNames = { plan: (tier: string) => string; product: (tier: string) => string }

/** Returns one item per event; equal failed calls in a row are one item. */
export function listTimeline(events: readonly CustomerEvent[], names: TierNames): TimelineItem[] {
  const items: TimelineItem[] = []
  let repeated = 0
  for (const [at, event] of events.entries()) {
    const next = events[at + 1]
    if (event.kind === 'call' && next && isSameFailure(event, next)) {
      repeated += 1
      continue
    }
    items.push(event.kind === 'call' ? describeCalls(event, repeated + 1) : describe(event, names))
    repeated = 0
  }
  return items
}

const isSameFailure = (one: CustomerEvent, other: CustomerEvent) =>
  other.kind === 'call' && one.detail === other.detail && one.model === other.model

/** `event` is the first of the calls. */
function describeCalls(event: CustomerEvent, calls: number): TimelineItem {
  return item(
    event,
    'call',
    calls === 1 ? t('Call failed') : t('{0} failed', plural(calls, 'call')),
    [
      event.detail && describeCode(event.detail),
      event.model,
      event.status && t('Status {0}', event.status),
    ],
  )
}

function describe(event: CustomerEvent, names: TierNames): TimelineItem {
  const { kind, amount_cents, currency, tier, status, detail } = event
  const amount = amount_cents === null ? '' : formatAmount(amount_cents, currency ?? 'usd')
  switch (kind) {
    case 'payment':
      return item(event, 'paid', t('Paid {0}', amount), [
        tier && t('Plan {0}', names.plan(tier)),
        detail && t('Invoice {0}', detail),
      ])
    case 'refund':
      return item(event, 'refund', t('Refunded {0}', amount), [
        status !== null && status !== 'succeeded' && describeCode(status),
        detail && describeCode(detail),
      ])
    case 'dispute':
      return item(event, 'dispute', t('Disputed {0}', amount), [
        status && describeCode(status),
        detail && t('Reason: {0}', describeCode(detail).toLowerCase()),
      ])
    case 'invoice':
      return item(event, 'ended', t('Invoice of {0} not paid', amount), [
        status && describeCode(status),
        detail && t('Invoice {0}', detail),
      ])
    case 'purchase':
      return item(
        event,
        'purchase',
        t(
          '{0} {1} for {2}',
          detail === 'upgrade' ? t('Upgraded or renewed') : t('Bought'),
          names.product(tier ?? ''),
          amount,
        ),
        [status !== null && status !== 'completed' && describeCode(status)],
      )
    case 'email':
      return item(event, 'email', t('Email: {0}', event.email?.subject ?? ''), [
        status !== 'sent' && EMAIL_STATES[status as 'waiting' | 'failed'].label,
        detail,
        event.email && t('Recipient: {0}', event.email.address),
      ])
    default:
      return describeEntry(event, names)
  }
}

/** An entry of the audit log. */
function describeEntry(event: CustomerEvent, names: TierNames): TimelineItem {
  const { action, data, actor_email, subject_email } = event
  const text = (name: string) => (typeof data?.[name] === 'string' ? (data[name] as string) : null)
  const entry = { action: action ?? '', data } as AuditEntry
  return item(event, readKind(action ?? ''), describeChange(event, names) ?? describeEvent(entry), [
    action?.startsWith('api-key.') && text('name'),
    action === 'subscription.changed' && describeSubscription(data, names),
    readReason(entry),
    ...readAddresses(entry),
    actor_email && t('By {0}', actor_email),
    subject_email && t('To {0}', subject_email),
  ])
}

function readKind(action: string): TimelineItem['kind'] {
  if (action.startsWith('sign-in') || action.startsWith('session')) return 'sign-in'
  return action.startsWith('api-key') ? 'key' : 'change'
}

/** Returns what a superuser changed; null for other entries. */
function describeChange({ action, data }: CustomerEvent, names: TierNames): string | null {
  if (action !== 'user.changed' || data === null) return null
  const { is_active, is_verified, is_superuser, subscription_tier, subscription_tier_until } = data
  const words = [
    is_active !== undefined && (is_active ? t('Reactivated') : t('Suspended')),
    is_verified !== undefined &&
      (is_verified ? t('Marked as verified') : t('Marked as not verified')),
    is_superuser !== undefined &&
      (is_superuser ? t('Made a superuser') : t('No longer a superuser')),
    subscription_tier === null && t('Plan follows the subscription again'),
    typeof subscription_tier === 'string' &&
      (typeof subscription_tier_until === 'string'
        ? t(
            'Plan set to {0} until {1}',
            names.plan(subscription_tier),
            formatLastDay(subscription_tier_until),
          )
        : t('Plan set to {0}', names.plan(subscription_tier))),
  ].filter((word) => word !== false)
  return words.length === 0 ? null : words.join(', ')
}

/** `Free → Pro, active`. */
function describeSubscription(data: CustomerEvent['data'], names: TierNames): string | null {
  const { tier, status, from } = (data ?? {}) as Record<string, unknown> & {
    from?: { tier?: string }
  }
  if (typeof tier !== 'string') return null
  const before = from?.tier && from.tier !== tier ? `${names.plan(from.tier)} → ` : ''
  const state = typeof status === 'string' ? `, ${status.replaceAll('_', ' ')}` : ''
  return `${before}${names.plan(tier)}${state}`
}

function item(
  { id, at, order_id }: CustomerEvent,
  kind: TimelineItem['kind'],
  title: string,
  details: (string | null | undefined | false)[],
): TimelineItem {
  return {
    id,
    at,
    kind,
    title,
    details: details.filter((one) => !!one) as string[],
    orderId: order_id,
  }
}
