import { Type } from 'typebox'
import { transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid, unauthenticated } from '#platform/problems.ts'
import { type User, updateUser } from '../users.ts'

/** No control characters, because emails and lists contain the name. */
export const FullName = Type.String({
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
})
export const AvatarUrl = Type.String({ maxLength: 2_048 })

export type Profile = {
  full_name?: string | null | undefined
  avatar_url?: string | null | undefined
  locale?: Locale | null | undefined
}

/**
 * Changes only the given fields; null clears one. @throws Problem 422 for an invalid picture
 * address
 */
export async function changeProfile(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  userId: string,
  { full_name, avatar_url, locale }: Profile,
): Promise<User> {
  if (typeof avatar_url === 'string' && !isPictureUrl(avatar_url)) {
    throw invalid(
      ['body', 'avatar_url'],
      'Should be a web address starting with https:// or http://',
    )
  }
  const changes = {
    ...(full_name === undefined ? {} : { full_name }),
    ...(avatar_url === undefined ? {} : { avatar_url }),
    ...(locale === undefined ? {} : { locale }),
  }
  const user = await transaction(db, (tx) => updateUser(tx, userId, changes, clock.now()))
  if (!user) throw unauthenticated()
  return user
}

/** A page shows it in an `img`: `javascript:` and `data:` have no place there. */
export function isPictureUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === ''
  )
}
