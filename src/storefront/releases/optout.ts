/**
 * Opting out of emails about releases, by a link that needs no sign-in. The link changes nothing
 * else, so it never expires.
 */
import { timingSafeEqual } from 'node:crypto'
import { findUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import { deleteOptout, insertOptout } from './store.ts'

export type OptoutDeps = Pick<Platform, 'db' | 'secrets' | 'clock'>

/** For people and, by POST, for the unsubscribe button of their mail client (RFC 8058). */
export function buildOptoutUrl(
  { config, secrets }: Pick<Platform, 'config' | 'secrets'>,
  userId: string,
): string {
  return `${config.urls.storefront}/release-emails?token=${userId}.${signUserId(secrets, userId)}`
}

/** @throws Problem 400 `Invalid link` */
export async function setReleaseEmails(
  { db, secrets, clock }: OptoutDeps,
  token: string,
  isWanted: boolean,
): Promise<void> {
  const userId = readToken({ secrets }, token)
  await transaction(db, async (tx) => {
    // Deleted users get no emails anyway.
    if (!(await findUser(tx, userId))) return
    await (isWanted ? deleteOptout(tx, userId) : insertOptout(tx, userId, clock.now()))
  })
}

/** Returns the user's id. @throws Problem 400 `Invalid link` */
export function readToken({ secrets }: Pick<OptoutDeps, 'secrets'>, token: string): string {
  const [userId = '', mark = ''] = token.split('.')
  const [given, wanted] = [Buffer.from(mark), Buffer.from(signUserId(secrets, userId))]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    throw storefrontProblem('optout_link_invalid')
  return userId
}

function signUserId(secrets: OptoutDeps['secrets'], userId: string): string {
  return secrets.hash('release-emails', userId)
}
