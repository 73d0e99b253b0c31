/** The evidence that a bank asks for in a dispute: what was delivered, when, to which address. */
import type { OrderDetail } from '../api/types.ts'
import { describeDevice } from '../components/device.ts'
import { formatAmount } from './amount.ts'
import type { NameTier } from './timeline.ts'

/** Returns English text to paste into the processor's form. Times are in UTC. */
export function writeEvidence(order: OrderDetail, nameTier: NameTier): string {
  const { id, amount_cents, currency, created_at, payment_ref } = order
  return [
    `Order ${id}: ${nameTier(order.tier)}, ${formatAmount(amount_cents, currency, 'en')}, paid ${formatUtc(created_at)}`,
    `Payment ${payment_ref}`,
    `Buyer: ${order.email ?? 'the account was deleted'}`,
    order.waiver
      ? `The buyer agreed to immediate delivery ${formatUtc(order.waiver.at)} (text of ${order.waiver.version}).`
      : null,
    ...writeList(
      'Delivered to the buyer’s account:',
      order.downloads.map(
        ({ downloaded_at, tier, version, ip_address, country, user_agent }) =>
          `${formatUtc(downloaded_at)}: ${tier === order.tier ? '' : `${nameTier(tier)}, `}version ${version} to ${ip_address}${country ? ` (${country})` : ''}, ${describeDevice(user_agent)}`,
      ),
    ),
    ...writeList(
      'The license is active on:',
      order.machines.map(
        ({ name, platform, activated_at, last_seen_at }) =>
          `${name ?? 'a machine'}${platform ? ` (${platform})` : ''}, activated ${formatUtc(activated_at)}, last used ${formatUtc(last_seen_at)}`,
      ),
    ),
    ...writeList(
      'Refunded:',
      order.refunds.map(
        (refund) =>
          `${formatUtc(refund.created_at)}: ${formatAmount(refund.amount_cents, refund.currency, 'en')} (${refund.status})`,
      ),
    ),
  ]
    .filter((line) => line !== null)
    .join('\n')
}

function writeList(title: string, items: string[]): string[] {
  return items.length === 0 ? [] : ['', title, ...items.map((item) => `- ${item}`)]
}

/** `2026-11-26 23:22 UTC`. */
function formatUtc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
