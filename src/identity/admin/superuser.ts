// Creates the first superuser: from settings, the command line, or a link printed at the first
// start. Access to the service's output or settings proves that a person is the operator.
import { recordAudit } from '#audit/audit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { type NotifyDeps, notifyOwner } from '../notify-owner.ts'
import {
  issueToken,
  type OneTimeTokenDeps,
  peekToken,
  spendToken,
  voidTokens,
} from '../one-time-tokens.ts'
import type { Hasher } from '../passwords/hasher.ts'
import { refuseWeak } from '../passwords/password-rules.ts'
import { identityProblem } from '../problems.ts'
import { type CredentialDeps, type Credentials, checkCredentials } from '../sign-in/credentials.ts'
import { announceUserChange } from '../user-changes.ts'
import { findUserByEmail, insertUser, isSuperuser, type User, updateUser } from '../users.ts'

export type SuperuserDeps = NotifyDeps & Pick<Platform, 'db'>

/** The message that the start prints, with a link; null without one. */
export type SuperuserNotice = { says: string; link: string } | null

export async function hasSuperuser(db: Db): Promise<boolean> {
  const any = await db
    .selectFrom('users')
    .select('id')
    .where(isSuperuser)
    .limit(1)
    .executeTakeFirst()
  return any !== undefined
}

/**
 * Creates the configured superuser at the first start. Without a configured one, issues a link to
 * become superuser.
 */
export async function ensureSuperuser(
  deps: SuperuserDeps & Pick<Platform, 'log'> & { hasher: Hasher },
): Promise<SuperuserNotice> {
  const { db, config, hasher, log } = deps

  if (config.superuser) {
    const { email, password } = config.superuser
    const existing = await findUserByEmail(db, email)
    if (existing) {
      // Anyone may have registered the address before it was configured; only its proven owner is
      // promoted.
      if (existing.is_superuser) return null
      if (!existing.is_verified) {
        log.warn(
          { email },
          'SUPERUSER_EMAIL names an account whose address is not verified: it is not promoted',
        )
        return null
      }
      await addSuperuser(deps, email, { expectedId: existing.id })
      return null
    }
    if (password !== null) await refuseWeak(deps, 'SUPERUSER_PASSWORD', password, email)
    const passwordHash = password === null ? null : await hasher.hash(password)
    const { setPasswordLink } = await addSuperuser(deps, email, { passwordHash, expectedId: null })
    return setPasswordLink === null
      ? null
      : { says: `Set the password of ${email}`, link: setPasswordLink }
  }

  if (await hasSuperuser(db)) return null
  const token = await issueToken(deps, db, 'superuser', null)
  return { says: 'Become the superuser', link: `${config.urls.base}/setup?token=${token}` }
}

/**
 * Promotes the account with this address, or creates a verified one. For the operator, without
 * further checks. The link, if any, sets the first password. With `expectedId` (null: no account),
 * an account that took the address since the caller's check is not promoted.
 * @throws Problem 409 in that case
 */
export async function addSuperuser(
  deps: SuperuserDeps,
  email: string,
  {
    passwordHash = null,
    expectedId,
    allowUnverified = false,
  }: { passwordHash?: string | null; expectedId?: string | null; allowUnverified?: boolean } = {},
): Promise<{ user: User; made: boolean; setPasswordLink: string | null }> {
  return transaction(deps.db, async (tx) => {
    const now = deps.clock.now()
    const existing = await findUserByEmail(tx, email)
    if (expectedId !== undefined && (existing?.id ?? null) !== expectedId) {
      throw identityProblem('account_appeared')
    }
    if (existing && !existing.is_verified && !existing.is_superuser && !allowUnverified) {
      throw identityProblem('superuser_unverified', {
        email: existing.email,
        frontend: deps.config.urls.frontend,
      })
    }
    const made = existing === null
    const account =
      existing ??
      (await insertUser(
        tx,
        { email, full_name: null, password_hash: passwordHash, is_verified: true },
        now,
      ))
    const user = (await updateUser(tx, account.id, { is_superuser: true }, now)) ?? account
    announceUserChange(tx, user.id)
    // Voids printed links, because logs may store them for long.
    await voidTokens(deps, tx, null, ['superuser'])
    const token =
      made && passwordHash === null ? await issueToken(deps, tx, 'reset', user.id, { email }) : null
    if (existing && !existing.is_superuser) await notifyOwner(deps, tx, user.id, 'superuser-made')
    await recordAudit(tx, {
      actorId: null,
      action: 'superuser.added',
      subject: `user:${user.id}`,
      at: now,
    })
    const setPasswordLink =
      token === null ? null : `${deps.config.urls.frontend}/reset-password?token=${token}`
    return { user, made, setPasswordLink }
  })
}

/** Returns true while the printed link is valid: unexpired and unused. */
export async function setupIsOpen(
  deps: OneTimeTokenDeps & Pick<Platform, 'db'>,
  token: string,
): Promise<boolean> {
  const known = await peekToken(deps, deps.db, 'superuser', token)
  return known?.state === 'open'
}

/**
 * Redeems the printed link. The owner of an existing account enters its password and is promoted.
 * An unknown address becomes an account.
 * @throws Problem 400 for the link, 401 for a wrong password, 422 for a weak one
 */
export async function setUpSuperuser(
  deps: SuperuserDeps & CredentialDeps & Pick<Platform, 'log'>,
  {
    token,
    email,
    password,
    origin,
  }: { token: string; email: string; password: string; origin: Credentials['origin'] },
): Promise<User> {
  if (!(await setupIsOpen(deps, token))) throw linkSpent()
  const existing = await findUserByEmail(deps.db, email)
  let passwordHash: string | null = null
  if (existing) await checkCredentials(deps, { email, password, origin })
  else {
    await refuseWeak(deps, 'password', password, email)
    passwordHash = await deps.hasher.hash(password)
  }
  return transaction(deps.db, async (tx) => {
    if (!(await spendToken(deps, tx, 'superuser', token))) throw linkSpent()
    // The password identifies the owner of an existing account.
    const options = { passwordHash, expectedId: existing?.id ?? null, allowUnverified: true }
    return (await addSuperuser({ ...deps, db: tx }, email, options)).user
  })
}

const linkSpent = () => identityProblem('setup_link_invalid')
