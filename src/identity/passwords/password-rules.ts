import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'

export const PASSWORD_LENGTH = { min: 8, max: 128 }

/** A password that is being chosen; one that is being shown may have any length, and is then simply wrong. */
export const NewPassword = Type.String({ minLength: PASSWORD_LENGTH.min, maxLength: PASSWORD_LENGTH.max })
export const ShownPassword = Type.String({ minLength: 1, maxLength: 1_024 })

/**
 * Refuses what is guessed first: a common password, the account's own address, or little more than the product's name.
 * @throws Problem 422 whose `loc` names the field.
 */
export function refuseWeak(
  { config }: Pick<Platform, 'config'>,
  field: string,
  password: string,
  email: string | null,
): void {
  const length = [...password].length
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    throw weak(field, `Password needs ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`)
  }
  const lowered = password.normalize('NFKC').toLowerCase()
  if (email !== null && lowered === email.toLowerCase()) throw weak(field, 'Password is the same as the email address')
  if (isCommon(lowered)) throw weak(field, 'Password is on a list of common passwords: choose another')
  const beside = withoutName(lowered, config.brand)
  if (beside !== null && (beside.length < PASSWORD_LENGTH.min || isCommon(beside))) {
    throw weak(field, `Password is little more than the name ${config.brand}: choose another`)
  }
}

/** Shorter names are parts of words that have nothing to do with them. */
const NAME_MIN = 4
const LOOKALIKES: Record<string, string> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  l: 'i',
  '!': 'i',
  '@': 'a',
  $: 's',
}

/**
 * What stands beside a name, which is found in spite of l00kalikes, spaces and dashes; null where the name is not
 * there.
 */
function withoutName(lowered: string, name: string): string | null {
  const text = pressed(lowered)
  const [unmasked, wanted] = [unmask(text), unmask(pressed(name.toLowerCase()))]
  if (wanted.length < NAME_MIN || !unmasked.includes(wanted)) return null
  let beside = ''
  let at = 0
  for (const { length } of unmasked.split(wanted)) {
    beside += text.slice(at, at + length)
    at += length + wanted.length
  }
  return beside
}

const pressed = (text: string) => text.replace(/[\s._-]+/g, '')
const unmask = (text: string) => text.replace(/[013457l!@$]/g, (sign) => LOOKALIKES[sign] ?? sign)

const weak = (field: string, msg: string) => invalid(['body', field], msg, 'weak_password')

let common: Set<string> | null = null

/** Read at the first password that is chosen: some 18,000 lines, 5 ms. */
function isCommon(lowered: string): boolean {
  common ??= new Set(
    readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# ')),
  )
  return common.has(lowered)
}
