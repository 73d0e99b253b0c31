/** The events of an order: its money, its deliveries and its entries of the audit log. */

import type { OrderDetail } from '../api/types.ts'
import { describeDevice } from '../components/device.ts'
import { formatDay } from '../components/format.ts'
import { t, translate } from '../language/text.ts'
import { formatAmount } from './amount.ts'

export type OrderEvent = {
  at: string
  kind: 'paid' | 'delivered' | 'refund' | 'dispute' | 'ended' | 'change'
  title: string
  /** Empty details are left out. */
  details: string[]
}

type Change = OrderDetail['changes'][number]
export type NameTier = (tier: string) => string

/** Returns the events, newest first. */
export function listOrderEvents(order: OrderDetail, nameTier: NameTier): OrderEvent[] {
  const unclaimed = order.changes.filter(({ action }) => action === 'purchase.refunded')
  const events = [
    describeSale(order, nameTier),
    ...(order.waiver
      ? [
          event(order.waiver.at, 'paid', t('Agreed to immediate delivery'), [
            t('Text of {0}', order.waiver.version),
          ]),
        ]
      : []),
    ...order.downloads.map((download) =>
      describeDownload(download, nameDelivery(order, download, nameTier)),
    ),
    ...order.machines.map((machine) =>
      event(
        machine.activated_at,
        'delivered',
        t('Activated on {0}', machine.name ?? t('a machine')),
        [machine.platform, machine.version && t('Version {0}', machine.version)],
      ),
    ),
    ...order.refunds.map((refund) => describeRefund(refund, takeChange(unclaimed, refund))),
    ...order.disputes.map((dispute) =>
      event(
        dispute.created_at,
        'dispute',
        t('Disputed {0}', formatAmount(dispute.amount_cents, dispute.currency)),
        [
          describeCode(dispute.status),
          dispute.reason && t('Reason: {0}', describeCode(dispute.reason).toLowerCase()),
        ],
      ),
    ),
    ...(order.withdrawn_at
      ? [event(order.withdrawn_at, 'ended', t('Buyer withdrew from the contract'), [])]
      : []),
    ...order.changes.flatMap(describeChange),
  ]
  return events.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

/** `needs_response` as `Needs response`. */
export function describeCode(code: string): string {
  const words = code.replaceAll('_', ' ')
  return translate(words.slice(0, 1).toUpperCase() + words.slice(1))
}

function describeSale(
  { amount_cents, currency, tier, from_id, chain, created_at }: OrderDetail,
  nameTier: NameTier,
) {
  const from = chain.find(({ id }) => id === from_id)
  const amount =
    amount_cents === 0 ? t('Bought for free') : t('Paid {0}', formatAmount(amount_cents, currency))
  if (from === undefined) return event(created_at, 'paid', amount, [])
  const purpose =
    from.tier === tier
      ? t('for another period of updates')
      : t('to upgrade from {0}', nameTier(from.tier))
  return event(created_at, 'paid', `${amount} ${purpose}`, [])
}

type Download = OrderDetail['downloads'][number]

/** Returns the version; with its product in the order of a bundle. */
function nameDelivery(
  { tier: ordered }: OrderDetail,
  { tier, version }: Download,
  nameTier: NameTier,
): string {
  return tier === ordered ? version : `${nameTier(tier)} ${version}`
}

function describeDownload(download: Download, name: string): OrderEvent {
  const { ip_address, country, user_agent, downloaded_at } = download
  return event(downloaded_at, 'delivered', t('Downloaded {0}', name), [
    ip_address,
    country,
    describeDevice(user_agent),
  ])
}

function describeRefund(
  refund: OrderDetail['refunds'][number],
  by: Change | undefined,
): OrderEvent {
  const { amount_cents, currency, status, created_at } = refund
  return event(created_at, 'refund', t('Refunded {0}', formatAmount(amount_cents, currency)), [
    status !== 'succeeded' && describeCode(status),
    readText(by, 'reason'),
    by?.actor_email,
  ])
}

/** Takes the change with which a superuser asked for a refund; it has their reason. */
function takeChange(changes: Change[], refund: OrderDetail['refunds'][number]): Change | undefined {
  const at = changes.findIndex(({ data }) => data?.amount_cents === refund.amount_cents)
  return at < 0 ? undefined : changes.splice(at, 1)[0]
}

function describeChange(change: Change): OrderEvent[] {
  const title = nameChange(change)
  if (title === null) return []
  const kind = change.action === 'purchase.revoked' ? 'ended' : 'change'
  return [event(change.at, kind, title, [readText(change, 'reason'), change.actor_email])]
}

/** Returns null for changes that the order shows elsewhere. */
function nameChange({ action, data }: Change): string | null {
  switch (action) {
    case 'purchase.resent':
      return t('License key emailed again')
    case 'purchase.downloads_reset':
      return t('Downloads reset')
    case 'purchase.extended':
      return t('Updates extended to {0}', formatDay(String(data?.to)))
    case 'purchase.activations_set':
      return data?.to == null
        ? t('Machine limit returned to the product’s')
        : t('Machine limit set to {0}', String(data.to))
    case 'purchase.machine_released':
      return t('Machine released')
    case 'purchase.revoked':
      return data?.by === 'superuser'
        ? t('Revoked')
        : t('License ended by the {0}', String(data?.by))
    case 'purchase.restored':
      return data?.by === 'superuser' ? t('Restored') : t('License works again')
    case 'license.rotated':
      return t('License key replaced')
    default:
      return null
  }
}

function readText(change: Change | undefined, name: string): string | null {
  const value = change?.data?.[name]
  return typeof value === 'string' ? value : null
}

function event(
  at: string,
  kind: OrderEvent['kind'],
  title: string,
  details: (string | null | undefined | false)[],
): OrderEvent {
  return { at, kind, title, details: details.filter((detail) => !!detail) as string[] }
}
