// Checks passwords with the range API of Have I Been Pwned. Only five hex digits of a SHA-1 leave
// the service, never the password (k-anonymity). Used only when PWNED_PASSWORDS_URL is set; while
// it is unreachable, no password is rejected.
import { createHash } from 'node:crypto'
import type { Platform } from '#platform/platform.ts'

const WITHIN_MS = 2_000
const PREFIX = 5

export async function isPwned(
  { config, log }: Pick<Platform, 'config' | 'log'>,
  password: string,
): Promise<boolean> {
  const base = config.pwnedPasswordsUrl
  if (base === null) return false
  const hash = createHash('sha1').update(password).digest('hex').toUpperCase()
  try {
    const reply = await fetch(`${base}/range/${hash.slice(0, PREFIX)}`, {
      // Padded replies have similar lengths, which do not reveal the requested range.
      headers: { 'add-padding': 'true', 'user-agent': 'latchkey' },
      redirect: 'error',
      signal: AbortSignal.timeout(WITHIN_MS),
    })
    if (!reply.ok) throw new Error(`it answers ${reply.status}`)
    return holds(await reply.text(), hash.slice(PREFIX))
  } catch (error) {
    log.warn(
      { err: error },
      'the list of breached passwords cannot be asked; passwords are taken without it',
    )
    return false
  }
}

/** Searches lines of `SUFFIX:COUNT`. Padding has a count of 0. */
function holds(lines: string, suffix: string): boolean {
  return lines
    .split(/\r?\n/)
    .some((line) => line.startsWith(`${suffix}:`) && Number(line.slice(suffix.length + 1)) > 0)
}
