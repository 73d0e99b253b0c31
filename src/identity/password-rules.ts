import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { invalid } from '#platform/problem.ts'

export const PASSWORD_LENGTH = { min: 8, max: 128 }

/** A password that is being chosen; one that is being shown may have any length, and is then simply wrong. */
export const NewPassword = Type.String({ minLength: PASSWORD_LENGTH.min, maxLength: PASSWORD_LENGTH.max })
export const ShownPassword = Type.String({ minLength: 1, maxLength: 1_024 })

/**
 * Refuses what is guessed first: a common password, or the account's own address.
 * @throws Problem 422 whose `loc` names the field.
 */
export function refuseWeak(field: string, password: string, email: string | null): void {
  const length = [...password].length
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    throw weak(field, `Password needs ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`)
  }
  const lowered = password.normalize('NFKC').toLowerCase()
  if (email !== null && lowered === email.toLowerCase()) throw weak(field, 'Password is the same as the email address')
  if (isCommon(lowered)) throw weak(field, 'Password is on a list of common passwords: choose another')
}

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
