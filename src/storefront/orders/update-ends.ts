/** Emails buyers 30 days before their updates end, and on the day. */
import { moveCursor, readCursor } from '#billing/cursors.ts'
import { findUser } from '#identity/users.ts'
import { composeEmailToUser, type Email } from '#mail/email.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { formatDate } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { readEmailMessages } from '../messages/emails.ts'
import type { Listed } from '../products/product-list.ts'
import type { Buyer } from '../purchases/emails.ts'
import { findEnding, type PurchaseRow } from '../purchases/store.ts'
import { quoteRenewal } from './quotes.ts'

export const UPDATE_ENDS_JOB = 'storefront.update-ends'
const CURSOR = 'storefront.update-ends'
const NOTICE_MS = 30 * DAY_MS
/** A service that was down for longer announces only the ends of the last days. */
const MISSED_MS = 3 * DAY_MS

type Deps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'log'> & Listed

/** Announces every end since the last run once: the emails and the cursor commit together. */
export async function announceUpdateEnds(deps: Deps): Promise<void> {
  const { db, clock } = deps
  const now = clock.now()
  await transaction(db, async (tx) => {
    const reached = (await readCursor(tx, CURSOR)) ?? now
    const earliest = plus(now, -MISSED_MS)
    const since = reached > earliest ? reached : earliest
    for (const aheadMs of [NOTICE_MS, 0]) {
      for (const purchase of await findEnding(tx, plus(since, aheadMs), plus(now, aheadMs))) {
        const user = await findUser(tx, purchase.user_id ?? '')
        const email = user && updateEndEmail(deps, user, purchase, aheadMs > 0)
        if (email) await sendMail(deps, tx, email, { isNotice: true })
      }
    }
    await moveCursor(tx, CURSOR, now)
  })
}

export function updateEndEmail(
  { config, productList }: Pick<Deps, 'config' | 'productList'>,
  to: Buyer,
  purchase: PurchaseRow,
  isAhead: boolean,
): Email {
  const locale = to.locale ?? config.brand.language
  const messages = readEmailMessages(locale)
  const name = `${config.brand.name} ${productList.getName(purchase.tier)}`
  const day = formatDate(purchase.entitled_until, locale)
  const text = messages.updateEnd({ name, day, isAhead })
  const product = productList.findSold(purchase.tier)
  const renewal = product ? quoteRenewal(product, purchase) : null
  const price =
    renewal && formatMoney(inUnits(renewal.cents, purchase.currency), purchase.currency, { locale })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: text.before,
    facts: [
      [messages.product, name],
      [text.updatesUntil, day],
      ...(price === null ? [] : [[text.renewal, price] as [string, string]]),
      [messages.order, purchase.id],
    ],
    button: renewal
      ? {
          label: text.renew,
          url: `${config.urls.storefront}/api/checkout?tier=${purchase.tier}&renew=${purchase.id}`,
        }
      : { label: text.toPurchases, url: `${config.urls.storefront}/dashboard` },
  })
}
