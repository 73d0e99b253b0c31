/** What happened while the clock moved, as lines of a list. */

import type { MovedClock } from '../api/types.ts'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'

type PassedEvent = MovedClock['events'][number]
type Kind = 'paid' | 'failed' | 'ahead' | 'change' | 'ended' | 'refund' | 'dispute' | 'email'

export type PassedItem = {
  id: string
  at: string
  kind: Kind
  title: string
  /** The customer's address. */
  email: string | null
  userId: string | null
  /** The email in the sandbox's mailbox. */
  mailId: number | null
}

/** `{}` stands for the amount. */
const WORDS: Record<PassedEvent['type'], { kind: Kind; title: string }> = {
  'invoice.paid': { kind: 'paid', title: 'Paid {}' },
  'invoice.payment_failed': { kind: 'failed', title: t('Payment of {} failed') },
  'invoice.upcoming': { kind: 'ahead', title: t('Renewal of {} announced') },
  'customer.subscription.trial_will_end': { kind: 'ahead', title: t('Trial is about to end') },
  'customer.subscription.paused': { kind: 'change', title: t('Plan paused') },
  'customer.subscription.resumed': { kind: 'change', title: t('Plan resumed') },
  'customer.subscription.deleted': { kind: 'ended', title: t('Plan ended') },
  'charge.refunded': { kind: 'refund', title: 'Refunded {}' },
  'charge.dispute.created': { kind: 'dispute', title: t('Dispute of {} opened') },
  'charge.dispute.closed': { kind: 'dispute', title: t('Dispute of {} closed') },
}

/** Returns the items of one move, oldest first. */
export function listPassed({
  events,
  emails,
}: Pick<MovedClock, 'events' | 'emails'>): PassedItem[] {
  return [
    ...events.map(describeEvent),
    ...emails.map(({ id, at, to, subject, user_id }) => ({
      id: `mail ${id}`,
      at,
      kind: 'email' as const,
      title: subject,
      email: to,
      userId: user_id,
      mailId: id,
    })),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function describeEvent({ id, at, type, amount_cents, currency, email, user_id }: PassedEvent) {
  const { kind, title } = WORDS[type]
  const amount =
    amount_cents === null || currency === null ? '' : formatAmount(amount_cents, currency)
  return { id, at, kind, title: title.replace('{}', amount), email, userId: user_id, mailId: null }
}

export type PassedSums = { paid: number; failed: number; emails: number; customers: number }

export function sumPassed(items: readonly PassedItem[]): PassedSums {
  const count = (kind: Kind) => items.filter((item) => item.kind === kind).length
  return {
    paid: count('paid'),
    failed: count('failed'),
    emails: count('email'),
    // An email may also be for the operator.
    customers: new Set(
      items.flatMap(({ kind, userId }) => (kind === 'email' ? [] : (userId ?? []))),
    ).size,
  }
}
