/**
 * Emails buyers about new releases: at most one email a week, with all releases since the last one.
 * A run looks at the releases of the last two weeks, so it also finds those that were put into the
 * products' folder, or that become public at a later time.
 */
import type { Tier } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { composeEmailToUser, type Email } from '#mail/email.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { readEmailMessages } from '../messages/emails.ts'
import type { Listed } from '../products/product-list.ts'
import { isCovered, type ProductDeps, type Release, showReleases } from '../products/releases.ts'
import { PREPARE_JOB } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { buildOptoutUrl } from './optout.ts'
import { insertNotice, listReaders, listUpdated } from './store.ts'

export const RELEASE_EMAILS_JOB = 'storefront.release-emails'
const PAUSE_MS = 7 * DAY_MS
/** Twice the pause, so that a release of the pause is still announced after it. */
const ANNOUNCED_MS = 2 * PAUSE_MS
const SLICE_USERS = 100
const NOTES_MAX = 2_000

type Deps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets'> & ProductDeps & Listed
type TierRelease = Release & { tier: Tier }

export async function sendReleaseEmails(deps: Deps): Promise<void> {
  const { db, jobs, clock } = deps
  const releases = await listNewReleases(deps)
  const tiers = [...new Set(releases.map(({ tier }) => tier))]
  if (tiers.length === 0) return
  // Many buyers download soon after the email, so the archives are packed before it.
  for (const tier of tiers)
    await jobs.enqueue(db, PREPARE_JOB, { tier }, { key: `prepare:${tier}` })

  const sentBefore = plus(clock.now(), -PAUSE_MS)
  for (let after: string | null = null; ; ) {
    const users = await listReaders(db, { tiers, after, sentBefore, max: SLICE_USERS })
    for (const userId of users)
      await transaction(db, (tx) => sendToBuyer(deps, tx, userId, releases))
    const last = users.at(-1)
    if (last === undefined) return
    after = last
  }
}

async function listNewReleases(deps: Deps): Promise<TierRelease[]> {
  const since = plus(deps.clock.now(), -ANNOUNCED_MS)
  const lists = deps.productList.known.map(async ({ tier }) => {
    const releases = await showReleases(deps, tier)
    return releases
      .filter(({ publishedAt }) => publishedAt > since)
      .map((release) => ({ ...release, tier }))
  })
  return (await Promise.all(lists)).flat()
}

async function sendToBuyer(
  deps: Deps,
  tx: Db,
  userId: string,
  releases: readonly TierRelease[],
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user?.is_active) return
  const tiers = [...new Set(releases.map(({ tier }) => tier))]
  const purchases = await listUpdated(tx, userId, tiers)
  const sent: TierRelease[] = []
  for (const release of releases) {
    const isNew = purchases.some((purchase) => bringsRelease(purchase, release))
    if (isNew && (await insertNotice(tx, userId, release, deps.clock.now()))) sent.push(release)
  }
  if (sent.length > 0) await sendMail(deps, tx, releaseEmail(deps, user, sent), { isNotice: true })
}

/** Returns true for a release that the buyer can download now and could not when they bought. */
function bringsRelease(
  { tier, created_at, entitled_until }: PurchaseRow,
  release: TierRelease,
): boolean {
  return (
    tier === release.tier && created_at < release.publishedAt && isCovered(release, entitled_until)
  )
}

export function releaseEmail(
  deps: Pick<Deps, 'config' | 'secrets' | 'productList'>,
  to: Pick<User, 'id' | 'email' | 'locale'>,
  releases: readonly TierRelease[],
): Email {
  const { config, productList } = deps
  const optoutUrl = buildOptoutUrl(deps, to.id)
  const messages = readEmailMessages(to.locale ?? config.brand.language)
  const text = messages.release({ shop: config.brand.name, optoutUrl })
  const names = releases.map(({ tier, version }) => `${productList.getName(tier)} ${version}`)
  const [first = ''] = names
  return composeEmailToUser(config.brand, to, {
    subject: names.length === 1 ? text.subjectOfOne(first) : text.subjectOfSeveral(names.length),
    before: releases.flatMap(({ notes }, index) => [
      text.isOut(names[index] ?? ''),
      ...(notes.trim() === '' ? [] : [shorten(notes.trim())]),
    ]),
    button: { label: messages.toDownloads, url: `${config.urls.storefront}/dashboard` },
    after: text.after,
    unsubscribeUrl: optoutUrl,
  })
}

function shorten(notes: string): string {
  return notes.length > NOTES_MAX ? `${notes.slice(0, NOTES_MAX)}…` : notes
}
