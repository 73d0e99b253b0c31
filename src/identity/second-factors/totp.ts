// TOTP (RFC 6238) with an encrypted secret in the database, and ten recovery codes. A code works
// once: one conditional UPDATE stores its time step.
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { recordAudit } from '#audit/audit.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { type NotifyDeps, notifyOwner } from '../notify-owner.ts'
import { identityProblem } from '../problems.ts'
import { lockSessionUser } from '../sessions/sessions.ts'
import { announceUserChange } from '../user-changes.ts'
import { type User, updateUser } from '../users.ts'
import { qrCode } from './qr-code.ts'

export type SecondFactorDeps = NotifyDeps & Pick<Platform, 'db'>

const PERIOD_S = 30
const RECOVERY_CODES = 10
/** RFC 4648 base32 in lower case, without characters that are easily misread. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

export type CodeDeps = Pick<Platform, 'clock' | 'secrets'>

/**
 * Creates a secret that the first correct code confirms. @throws Problem 400 when two-factor is
 * already on.
 */
export async function prepareTotp(
  { db, clock, secrets, config }: Pick<Platform, 'db' | 'clock' | 'secrets' | 'config'>,
  user: User,
): Promise<{ secret: string; otpauth_url: string; qr_code: string }> {
  if (user.is_totp_on) throw identityProblem('two_factor_already_on')
  const secret = new Secret({ size: 20 })
  const row = {
    secret_sealed: secrets.seal('totp', secret.base32),
    last_step: 0,
    created_at: clock.now(),
    confirmed_at: null,
  }
  await db
    .insertInto('totp')
    .values({ user_id: user.id, ...row })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet(row).where('totp.confirmed_at', 'is', null),
    )
    .execute()
  const otpauth_url = createTotp(secret.base32, config.brand.name, user.email).toString()
  return { secret: secret.base32, otpauth_url, qr_code: await qrCode(otpauth_url) }
}

/**
 * Turns two-factor on with the first correct code. The recovery codes are shown only once. @throws
 * Problem 400, 401 when the caller's session has ended.
 */
export async function confirmTotp(
  deps: SecondFactorDeps,
  user: User,
  { code, sessionId }: { code: string; sessionId: string | null },
): Promise<{ recovery_codes: string[] }> {
  const { db, clock, secrets } = deps
  if (user.is_totp_on) throw identityProblem('two_factor_already_on')
  const codes = Array.from({ length: RECOVERY_CODES }, recoveryCode)

  await transaction(db, async (tx) => {
    await lockSessionUser(deps, tx, { userId: user.id, sessionId })
    if (!(await acceptTotp(deps, tx, user.id, code, { confirmed: false }))) throw codeWrong()
    await tx
      .updateTable('totp')
      .set({ confirmed_at: clock.now() })
      .where('user_id', '=', user.id)
      .execute()
    await tx.deleteFrom('recovery_codes').where('user_id', '=', user.id).execute()
    await tx
      .insertInto('recovery_codes')
      .values(
        codes.map((text) => ({
          user_id: user.id,
          hash: recoveryHash(secrets, text),
          spent_at: null,
        })),
      )
      .execute()
    await updateUser(tx, user.id, { is_totp_on: true }, clock.now())
    announceUserChange(tx, user.id)
    await notifyOwner(deps, tx, user.id, 'two-factor-on')
    await recordAudit(tx, { actorId: user.id, action: 'totp.on', at: clock.now() })
  })
  return { recovery_codes: codes }
}

/**
 * @throws Problem 400 when two-factor is off or the code is wrong, 401 when the caller's session
 * has ended.
 */
export async function removeTotp(
  deps: SecondFactorDeps,
  user: User,
  { code, sessionId }: { code: string; sessionId: string | null },
): Promise<void> {
  if (!user.is_totp_on) throw identityProblem('two_factor_not_on')
  await transaction(deps.db, async (tx) => {
    await lockSessionUser(deps, tx, { userId: user.id, sessionId })
    if (!(await acceptCode(deps, tx, user.id, code))) throw codeWrong()
    await dropTotp(deps, tx, user.id)
    await notifyOwner(deps, tx, user.id, 'two-factor-off')
    await recordAudit(tx, { actorId: user.id, action: 'totp.off', at: deps.clock.now() })
  })
}

/** Turns two-factor off if it was turned on after `since`. Returns true if it did. */
export async function dropRecentTotp(
  deps: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
  since: Instant,
): Promise<boolean> {
  const found = await tx
    .selectFrom('totp')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('confirmed_at', '>', since)
    .executeTakeFirst()
  if (found) await dropTotp(deps, tx, userId)
  return found !== undefined
}

async function dropTotp({ clock }: Pick<Platform, 'clock'>, tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('totp').where('user_id', '=', userId).execute()
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await updateUser(tx, userId, { is_totp_on: false }, clock.now())
  announceUserChange(tx, userId)
}

/**
 * Returns true for a current six-digit code or an unused recovery code. Each code is accepted once.
 */
export async function acceptCode(
  deps: CodeDeps,
  db: Db,
  userId: string,
  code: string,
): Promise<boolean> {
  const text = code.replaceAll(/[\s-]/g, '').toLowerCase()
  if (/^\d{6}$/.test(text)) return acceptTotp(deps, db, userId, text, { confirmed: true })
  return acceptRecovery(deps, db, userId, text)
}

async function acceptTotp(
  { clock, secrets }: CodeDeps,
  db: Db,
  userId: string,
  code: string,
  { confirmed }: { confirmed: boolean },
): Promise<boolean> {
  const row = await db
    .selectFrom('totp')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!row || (row.confirmed_at !== null) !== confirmed) return false
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return false
  const now = clock.ms()
  const delta = createTotp(secrets.open('totp', row.secret_sealed), '', '').validate({
    token,
    timestamp: now,
    window: 1,
  })
  if (delta === null) return false
  const step = Math.floor(now / 1_000 / PERIOD_S) + delta
  const updated = await db
    .updateTable('totp')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .returning('user_id')
    .executeTakeFirst()
  return updated !== undefined
}

async function acceptRecovery(
  { clock, secrets }: CodeDeps,
  db: Db,
  userId: string,
  code: string,
): Promise<boolean> {
  const update = await db
    .updateTable('recovery_codes')
    .set({ spent_at: clock.now() })
    .where('user_id', '=', userId)
    .where('hash', '=', recoveryHash(secrets, code))
    .where('spent_at', 'is', null)
    .returning('user_id')
    .executeTakeFirst()
  return update !== undefined
}

function createTotp(secret: string, issuer: string, label: string): TOTP {
  return new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
    secret: Secret.fromBase32(secret),
  })
}

/** Returns a code such as `k7m2p-9qxw4`: 10 of 31 characters, about 49 bits. */
function recoveryCode(): string {
  // 248 is the last multiple of 31 in a byte. Larger bytes would make the first letters more
  // frequent.
  const letters: string[] = []
  while (letters.length < 10) {
    for (const byte of randomBytes(16)) {
      if (byte < 248 && letters.length < 10) letters.push(ALPHABET.charAt(byte % ALPHABET.length))
    }
  }
  return `${letters.slice(0, 5).join('')}-${letters.slice(5).join('')}`
}

const recoveryHash = (secrets: CodeDeps['secrets'], code: string) =>
  secrets.hash('recovery-codes', code.replaceAll(/[\s-]/g, '').toLowerCase())

/** The problem for a signed-in user. At sign-in the status is 401. */
export const codeWrong = () => identityProblem('two_factor_code_wrong', { status: 400 })
