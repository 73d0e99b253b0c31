import { Type } from 'typebox'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { isCommon } from './common-passwords.ts'
import { isPwned } from './pwned-passwords.ts'

export const PASSWORD_LENGTH = { min: 8, max: 128 }

/**
 * The schema of a new password. For an existing one use `ShownPassword`: a wrong length is simply a
 * wrong password.
 */
export const NewPassword = Type.String({
  minLength: PASSWORD_LENGTH.min,
  maxLength: PASSWORD_LENGTH.max,
})
export const ShownPassword = Type.String({ minLength: 1, maxLength: 1_024 })

/**
 * Rejects easily guessed passwords: common passwords and simple variations, and those with little
 * more than the product's name or the account's address. Rejects breached passwords when the
 * operator enables it.
 * @throws Problem 422 whose `loc` names the field
 */
export async function refuseWeak(
  deps: Pick<Platform, 'config' | 'log'>,
  field: string,
  password: string,
  email: string | null,
): Promise<void> {
  const reason = weakness(password, { product: deps.config.brand.name, email })
  if (reason !== null) throw weak(field, reason)
  if (await isPwned(deps, password)) {
    throw weak(field, 'Password has appeared in a breach of some other service: choose another')
  }
}

/** Returns why a password is easy to guess, as a sentence; null when it is not. */
export function weakness(
  password: string,
  { product, email }: { product: string; email: string | null },
): string | null {
  const length = [...password].length
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    return `Password needs ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`
  }
  const lowered = password.normalize('NFKC').toLowerCase()
  if (email !== null && lowered === email.toLowerCase())
    return 'Password is the same as the email address'
  if (new Set(lowered).size <= 2) return 'Password repeats the same characters: choose another'
  if (isGuessed(lowered))
    return 'Password is on a list of common passwords, or nearly so: choose another'
  if (isTrivialExtension(lowered, [product]))
    return `Password is little more than the name ${product}: choose another`
  if (email !== null && isTrivialExtension(lowered, [...splitIntoParts(email), product])) {
    return 'Password is little more than your email address: choose another'
  }
  return null
}

/**
 * Returns true for a common password, also with symbols for letters, reversed, doubled, or with a
 * year or symbols around it.
 */
function isGuessed(lowered: string): boolean {
  const half = lowered.slice(0, lowered.length / 2)
  const wholes = [
    lowered,
    [...lowered].toReversed().join(''),
    ...(half + half === lowered ? [half] : []),
  ]
  if (wholes.some((text) => spellings(text).some(isCommon))) return true
  const cores = [lowered.replace(/[^\p{L}]+$/u, ''), lowered.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')]
  return cores.some(
    (core) =>
      core.length >= CORE_MIN &&
      lowered.length - core.length < PASSWORD_LENGTH.min &&
      spellings(core).some((text) => isCommon(text)),
  )
}

/** Shorter texts occur in many unrelated passwords. */
const CORE_MIN = 4

/** Returns the text as typed and with symbols replaced by letters; 1 may mean i or l. */
const spellings = (text: string) => [
  ...new Set(
    ['i', 'l'].flatMap((one) => [
      text,
      text.replace(/[013457!@$]/g, (sign) => (sign === '1' ? one : (SIGNS[sign] ?? sign))),
    ]),
  ),
]

/** Shorter names occur in unrelated words. */
const NAME_MIN = 4
const SIGNS: Record<string, string> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '!': 'i',
  '@': 'a',
  $: 's',
}
const LOOKALIKES: Record<string, string> = { ...SIGNS, l: 'i' }

/** Returns the words of an address, without its top-level domain. */
function splitIntoParts(email: string): string[] {
  const [local = '', domain = ''] = email.toLowerCase().split('@')
  return [local, ...local.split(/[._+-]/), ...domain.split('.').slice(0, -1)]
}

/** Returns true when only a few characters, or a common password, remain without the names. */
function isTrivialExtension(lowered: string, names: readonly string[]): boolean {
  let remainder: string | null = null
  for (const name of names) remainder = withoutName(remainder ?? lowered, name) ?? remainder
  return remainder !== null && (remainder.length < PASSWORD_LENGTH.min || isCommon(remainder))
}

/**
 * Removes a name from the text, even when it is written with l00kalikes, spaces or dashes. Returns
 * null when the text does not contain the name.
 */
function withoutName(lowered: string, name: string): string | null {
  const text = pressed(lowered)
  const [unmasked, wanted] = [unmask(text), unmask(pressed(name.toLowerCase()))]
  if (wanted.length < NAME_MIN || !unmasked.includes(wanted)) return null
  let remainder = ''
  let at = 0
  for (const { length } of unmasked.split(wanted)) {
    remainder += text.slice(at, at + length)
    at += length + wanted.length
  }
  return remainder
}

const pressed = (text: string) => text.replace(/[\s._-]+/g, '')
const unmask = (text: string) => text.replace(/[013457l!@$]/g, (sign) => LOOKALIKES[sign] ?? sign)

const weak = (field: string, msg: string) => invalid(['body', field], msg, 'weak_password')
