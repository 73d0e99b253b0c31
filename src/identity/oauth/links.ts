// Links between accounts and provider identities, by (provider, subject), never by an address
// alone.
import Format from 'typebox/format'
import { recordAudit } from '#audit/audit.ts'
import { type Db, isUniqueViolation, transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import { findNameOwner, insertName, releaseNames } from '#platform/lookups.ts'
import type { Platform } from '#platform/platform.ts'
import { spendOpenInvitation } from '../account/invitations.ts'
import { isPictureUrl } from '../account/profile.ts'
import { isAllowed } from '../account/sign-up-rules.ts'
import type { IdentityNeeds } from '../deps.ts'
import { type NotifyDeps, notifyOwner } from '../notify-owner.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import { isSessionLive, lockSessionUser, type SessionRef } from '../sessions/sessions.ts'
import {
  NO_SIGN_IN_METHODS,
  personName,
  recordRevokedKeys,
  removeSignInMethods,
  requireSignInMethod,
} from '../sign-in-methods.ts'
import type { OAuthProvider } from '../tables.ts'
import { claimAccount, isUnclaimed } from '../unclaimed-accounts.ts'
import { findUser, findUserByEmail, insertUser, lockUser, type User, updateUser } from '../users.ts'
import { RefusedSignIn } from './flow.ts'
import type { ProviderIdentity } from './providers.ts'

/**
 * `revokeKeys` revokes keys from before the address was verified, when its owner signs in through a
 * provider.
 */
export type LinkDeps = NotifyDeps &
  RevocationDeps &
  Pick<IdentityNeeds, 'revokeKeys'> &
  Pick<Platform, 'db' | 'business'>

/**
 * Returns the linked account. Otherwise links the account with the same address, if both the
 * provider and this service have verified the address. Otherwise creates an account. @throws
 * RefusedSignIn
 */
export async function findOrCreateAccount(
  deps: LinkDeps,
  provider: OAuthProvider,
  identity: ProviderIdentity,
  locale: Locale | null,
): Promise<User> {
  const attempt = () =>
    transaction(deps.db, (tx) => findOrCreate(deps, tx, provider, identity, locale))
  try {
    return await attempt()
  } catch (error) {
    // Two first sign-ins ran at once. The second attempt finds the account that the other one
    // created.
    if (isUniqueViolation(error)) return attempt()
    throw error
  }
}

async function findOrCreate(
  deps: LinkDeps,
  tx: Db,
  provider: OAuthProvider,
  identity: ProviderIdentity,
  locale: Locale | null,
): Promise<User> {
  const now = deps.clock.now()
  const refuse = (refusal: RefusedSignIn['refusal']) =>
    new RefusedSignIn(refusal, { linking: false })

  const linked = await linkedUser(tx, provider, identity.subject)
  if (linked) {
    if (!linked.is_active) throw refuse('inactive_account')
    if (isUnproven(deps, provider, linked)) throw refuse('sandboxed_provider')
    return linked
  }
  const { email } = identity
  // Addresses that cannot be registered are rejected here too. For example, the Kelvin sign in
  // lower case is the k of another person's address.
  if (email === null || !Format.Test('email', email)) throw refuse('email_missing')
  if (!identity.emailVerified) throw refuse('email_not_verified')

  const existing = await lockByEmail(tx, email)
  if (existing) {
    // An attacker may have registered this address and wait for its owner to sign in (account
    // pre-hijacking). Nobody can have done so with an account that only a purchase created.
    const isOwnerless = await isUnclaimed(tx, existing)
    if (!existing.is_verified && !isOwnerless) throw refuse('account_exists')
    if (!existing.is_active) throw refuse('inactive_account')
    if (isUnproven(deps, provider, existing)) throw refuse('sandboxed_provider')
    if (await hasProvider(tx, existing.id, provider)) throw refuse('account_exists')
    if (isOwnerless) {
      await claimAccount(deps, tx, existing.id)
      await updateUser(tx, existing.id, { oauth_provider: provider }, now)
    }
    return linkByEmail(deps, tx, existing.id, provider, identity)
  }

  if (!isAllowed(deps.config.signUp, email)) throw refuse('email_domain_refused')
  if (deps.config.signUp.invitedOnly && !(await spendOpenInvitation(deps, tx, email)))
    throw refuse('invitation_required')
  const user = await insertUser(
    tx,
    {
      email,
      full_name: readName(identity),
      avatar_url:
        identity.picture !== null && isPictureUrl(identity.picture) ? identity.picture : null,
      locale,
      password_hash: null,
      oauth_provider: provider,
      is_verified: true,
    },
    now,
  )
  await insertLink(tx, user.id, provider, identity, now)
  await recordAudit(tx, { actorId: user.id, action: 'registered', data: { provider }, at: now })
  deps.business.signedUp(tx, provider)
  return user
}

async function lockByEmail(tx: Db, email: string): Promise<User | null> {
  const found = await findUserByEmail(tx, email)
  if (!found) return null
  await lockUser(tx, found.id)
  return findUser(tx, found.id)
}

/**
 * Links the provider to the account of the address's owner. If the verification link was not
 * followed by a signed-in user, another person may have set the password. Then the password, all
 * sessions, all other sign-in methods and the API keys from before the verification are removed.
 */
async function linkByEmail(
  deps: LinkDeps,
  tx: Db,
  userId: string,
  provider: OAuthProvider,
  identity: ProviderIdentity,
): Promise<User> {
  const now = deps.clock.now()
  await lockUser(tx, userId)
  const user = await findUser(tx, userId)
  if (!user?.is_verified) throw new RefusedSignIn('account_exists', { linking: false })
  const { verified_apart_at } = user
  const isDoubtful = verified_apart_at !== null
  const methods = isDoubtful ? await removeSignInMethods(tx, userId) : NO_SIGN_IN_METHODS
  const keys = isDoubtful ? await deps.revokeKeys(tx, userId, { before: verified_apart_at }) : []
  if (isDoubtful) {
    const changes = { password_hash: null, oauth_provider: provider, verified_apart_at: null }
    await updateUser(tx, userId, changes, now)
    await revokeSessions(deps, tx, userId)
  }
  await insertLink(tx, userId, provider, identity, now)
  await notifyOwner(deps, tx, userId, `${provider}-linked`, {
    address: identity.email,
    ...(isDoubtful ? { removed: { ...methods, keys, twoFactor: false } } : {}),
  })
  await recordAudit(tx, {
    actorId: userId,
    action: 'provider.linked',
    data: { provider, by: 'email' },
    at: now,
  })
  if (isDoubtful && user.password_hash !== null) {
    await recordAudit(tx, {
      actorId: userId,
      action: 'password.removed',
      data: { by: provider },
      at: now,
    })
  }
  await recordRevokedKeys(tx, userId, keys, 'provider.linked', now)
  return (await findUser(tx, userId)) ?? user
}

/**
 * The sandboxed provider accepts any address as verified, so it must not open a superuser's
 * account.
 */
function isUnproven(
  { config }: Pick<Platform, 'config'>,
  provider: OAuthProvider,
  user: User,
): boolean {
  return user.is_superuser && config.oauth[provider]?.sandboxed === true
}

/**
 * Links a provider to the account of a signed-in user. @throws RefusedSignIn when the provider
 * identity is linked to another account.
 */
export async function linkProvider(
  deps: LinkDeps,
  session: SessionRef,
  provider: OAuthProvider,
  identity: ProviderIdentity,
): Promise<void> {
  const { userId } = session
  await transaction(deps.db, async (tx) => {
    await lockUser(tx, userId)
    const user = await findUser(tx, userId)
    if (!user?.is_active) throw new RefusedSignIn('inactive_account', { linking: true })
    // The session has ended since the flow began, possibly to lock out the person who began it.
    if (!(await isSessionLive(deps, tx, session)))
      throw new RefusedSignIn('invalid_state', { linking: true })
    if (isUnproven(deps, provider, user))
      throw new RefusedSignIn('sandboxed_provider', { linking: true })
    const owner = await linkedUser(tx, provider, identity.subject)
    if (owner?.id === userId) return
    if (owner || (await hasProvider(tx, userId, provider)))
      throw new RefusedSignIn('already_linked', { linking: true })
    await insertLink(tx, userId, provider, identity, deps.clock.now())
    await notifyOwner(deps, tx, userId, `${provider}-linked`, { address: identity.email })
    await recordAudit(tx, {
      actorId: userId,
      action: 'provider.linked',
      data: { provider },
      at: deps.clock.now(),
    })
  })
}

/**
 * @throws Problem 404 when it is not linked, 400 when it is the only sign-in method, 401 when the
 * session that asks has ended.
 */
export async function unlinkProvider(
  deps: LinkDeps,
  session: SessionRef,
  provider: OAuthProvider,
): Promise<void> {
  const { userId } = session
  await transaction(deps.db, async (tx) => {
    await lockSessionUser(deps, tx, session)
    const removed = await tx
      .deleteFrom('oauth_links')
      .where('user_id', '=', userId)
      .where('provider', '=', provider)
      .returning('subject')
      .executeTakeFirst()
    if (!removed) throw identityProblem('oauth_provider_not_linked', { provider })
    await releaseNames(tx, 'oauth', [personName(provider, removed.subject)])
    await requireSignInMethod(tx, userId)
    await renameOrigin(tx, userId)
    await notifyOwner(deps, tx, userId, `${provider}-unlinked`)
    await recordAudit(tx, {
      actorId: userId,
      action: 'provider.unlinked',
      data: { provider },
      at: deps.clock.now(),
    })
  })
}

export type LinkView = { provider: OAuthProvider; email: string | null; linked_at: string }

export async function listLinks(db: Db, userId: string): Promise<LinkView[]> {
  return db
    .selectFrom('oauth_links')
    .select(['provider', 'email', 'linked_at'])
    .where('user_id', '=', userId)
    .orderBy('linked_at')
    .execute()
}

/**
 * Sets the provider that is shown for an account without a password to one that is still linked.
 */
async function renameOrigin(tx: Db, userId: string): Promise<void> {
  const left = await listLinks(tx, userId)
  await tx
    .updateTable('users')
    .set({ oauth_provider: left[0]?.provider ?? null })
    .where('id', '=', userId)
    .where('password_hash', 'is', null)
    .execute()
}

async function linkedUser(tx: Db, provider: OAuthProvider, subject: string): Promise<User | null> {
  const owner = await findNameOwner(tx, 'oauth', personName(provider, subject))
  return owner === null ? null : findUser(tx, owner)
}

async function hasProvider(tx: Db, userId: string, provider: OAuthProvider): Promise<boolean> {
  const row = await tx
    .selectFrom('oauth_links')
    .select('subject')
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return row !== undefined
}

async function insertLink(
  tx: Db,
  userId: string,
  provider: OAuthProvider,
  { subject, email }: ProviderIdentity,
  now: string,
): Promise<void> {
  await insertName(tx, 'oauth', personName(provider, subject), userId)
  await tx
    .insertInto('oauth_links')
    .values({ user_id: userId, provider, subject, email, linked_at: now })
    .execute()
}

/** Cleans the name from the provider, because it is untrusted input. */
function readName({ name }: ProviderIdentity): string | null {
  const clean = name
    ?.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 200)
  return clean === undefined || clean === '' ? null : clean
}
