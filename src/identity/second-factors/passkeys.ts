// Passkeys (WebAuthn Level 3), bound to the user app's host. User verification is required, so a
// passkey is two factors in one and asks for no code.
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { JsonObject } from '#platform/http/schema.ts'
import { lazyRequire } from '#platform/lazy-require.ts'
import { claimName, findNameOwner, releaseNames } from '#platform/lookups.ts'
import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { notifyOwner } from '../notify-owner.ts'
import { issueToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { lockSessionUser, type SessionRef } from '../sessions/sessions.ts'
import { requireSignInMethod } from '../sign-in-methods.ts'
import { findUser, type User } from '../users.ts'
import type { SecondFactorDeps } from './totp.ts'

export type PasskeyDeps = Pick<Platform, 'db' | 'clock' | 'config' | 'secrets'>

const PASSKEYS_MAX = 20

/** Loaded only when first used, because it has three hundred files of certificate formats. */
const webauthn = lazyRequire<typeof import('@simplewebauthn/server')>('@simplewebauthn/server')

/**
 * EdDSA, ES256, RS256 (RFC 8152): the algorithms that devices use today and that Node verifies
 * without experimental features.
 */
const ALGORITHMS = [-8, -7, -257]

/**
 * The result of the browser's credential API in the format of @simplewebauthn/browser. The library
 * validates its content.
 */
export const PasskeyCredential = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 2_048 }),
    rawId: Type.String({ maxLength: 2_048 }),
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: Type.String() }, { title: 'PasskeyAnswer' }),
  },
  { title: 'PasskeyCredential' },
)
export const PasskeyOptions = Type.Object(
  { options: Type.Unsafe<object>(JsonObject) },
  { title: 'PasskeyOptions' },
)

/** @throws Problem 400 when the account has the maximum number of passkeys. */
export async function registrationOptions(
  deps: PasskeyDeps,
  user: User,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const known = await deps.db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', user.id)
    .execute()
  if (known.length >= PASSKEYS_MAX) throw passkeyLimitReached()

  const challenge = await transaction(deps.db, (tx) =>
    issueToken(deps, tx, 'passkey-register', user.id),
  )
  return webauthn().generateRegistrationOptions({
    rpName: deps.config.brand.name,
    rpID: relyingParty(deps).id,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.full_name ?? user.email,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map((key) => ({
      id: key.credential_id,
      transports: parseTransports(key.transports),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

export type PasskeyView = {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
}

/** @throws Problem 400 `Passkey could not be verified`, 401 when the caller's session has ended. */
export async function addPasskey(
  deps: SecondFactorDeps,
  user: User,
  {
    response,
    name,
    sessionId,
  }: { response: RegistrationResponseJSON; name: string; sessionId: string | null },
): Promise<PasskeyView> {
  const { id: expectedRPID, origins } = relyingParty(deps)
  const { registrationInfo } = await webauthn()
    .verifyRegistrationResponse({
      response,
      expectedRPID,
      expectedOrigin: origins,
      supportedAlgorithmIDs: ALGORITHMS,
      requireUserVerification: true,
      expectedChallenge: async (challenge) =>
        (await spendToken(deps, deps.db, 'passkey-register', challenge))?.userId === user.id,
    })
    .catch((cause) => {
      throw passkeyNotVerified(cause)
    })
  if (!registrationInfo) throw passkeyNotVerified()
  const { credential } = registrationInfo

  return transaction(deps.db, async (tx) => {
    await lockSessionUser(deps, tx, { userId: user.id, sessionId })
    const { count } = await tx
      .selectFrom('passkeys')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow()
    if (count >= PASSKEYS_MAX) throw passkeyLimitReached()
    const now = deps.clock.now()
    const row = {
      user_id: user.id,
      id: crypto.randomUUID(),
      credential_id: credential.id,
      public_key: credential.publicKey,
      counter: credential.counter,
      transports: (credential.transports ?? []).join(','),
      name,
      created_at: now,
      last_used_at: null,
    }
    if (!(await claimName(tx, 'passkey', row.credential_id, user.id))) throw passkeyNotVerified()
    await tx.insertInto('passkeys').values(row).execute()
    await notifyOwner(deps, tx, user.id, 'passkey-added', { name })
    await recordAudit(tx, {
      actorId: user.id,
      action: 'passkey.added',
      subject: `passkey:${row.id}`,
      at: now,
    })
    return passkeyView(row)
  })
}

export async function loginOptions(
  deps: PasskeyDeps,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const challenge = await issueToken(deps, deps.db, 'passkey-login', null)
  // Without a list of allowed keys, the device offers the keys it has, and the reply does not
  // reveal accounts.
  return webauthn().generateAuthenticationOptions({
    rpID: relyingParty(deps).id,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    userVerification: 'required',
  })
}

/**
 * Returns the user whose passkey signed the challenge. @throws Problem 401 `Passkey not
 * recognised`, 403
 */
export async function checkPasskey(
  deps: PasskeyDeps,
  response: AuthenticationResponseJSON,
): Promise<User> {
  const owner = await findNameOwner(deps.db, 'passkey', response.id)
  if (owner === null) throw passkeyNotRecognised()
  const key = await deps.db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', owner)
    .where('credential_id', '=', response.id)
    .executeTakeFirst()
  if (!key) throw passkeyNotRecognised()

  const { id: expectedRPID, origins } = relyingParty(deps)
  const { verified, authenticationInfo } = await webauthn()
    .verifyAuthenticationResponse({
      response,
      expectedRPID,
      expectedOrigin: origins,
      requireUserVerification: true,
      expectedChallenge: async (challenge) =>
        (await spendToken(deps, deps.db, 'passkey-login', challenge)) !== null,
      credential: {
        id: key.credential_id,
        publicKey: new Uint8Array(key.public_key),
        counter: key.counter,
        transports: parseTransports(key.transports),
      },
    })
    .catch((cause) => {
      throw passkeyNotRecognised(cause)
    })
  if (!verified) throw passkeyNotRecognised()

  const user = await findUser(deps.db, key.user_id)
  if (!user) throw passkeyNotRecognised()
  if (!user.is_active) throw platformProblem('inactive_account')
  await deps.db
    .updateTable('passkeys')
    .set({ counter: authenticationInfo.newCounter, last_used_at: deps.clock.now() })
    .where('user_id', '=', key.user_id)
    .where('id', '=', key.id)
    .execute()
  return user
}

export async function listPasskeys(db: Db, userId: string): Promise<PasskeyView[]> {
  const rows = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
  return rows.map(passkeyView)
}

/**
 * @throws Problem 404, 400 when it is the only sign-in method, 401 when the caller's session has
 * ended.
 */
export async function removePasskey(
  deps: SecondFactorDeps,
  session: SessionRef,
  id: string,
): Promise<void> {
  const { userId } = session
  await transaction(deps.db, async (tx) => {
    await lockSessionUser(deps, tx, session)
    const removed = await tx
      .deleteFrom('passkeys')
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .returning(['name', 'credential_id'])
      .executeTakeFirst()
    if (!removed) throw identityProblem('passkey_not_found')
    await releaseNames(tx, 'passkey', [removed.credential_id])
    await requireSignInMethod(tx, userId)
    await notifyOwner(deps, tx, userId, 'passkey-removed', { name: removed.name })
    await recordAudit(tx, {
      actorId: userId,
      action: 'passkey.removed',
      subject: `passkey:${id}`,
      at: deps.clock.now(),
    })
  })
}

/** Passkeys are bound to the host of the user app, whose pages use them. */
function relyingParty({ config }: Pick<Platform, 'config'>): { id: string; origins: string[] } {
  const frontend = new URL(config.urls.frontend)
  return {
    id: frontend.hostname,
    origins: [...new Set([frontend.origin, new URL(config.urls.base).origin])],
  }
}

const parseTransports = (text: string) =>
  text === '' ? [] : (text.split(',') as AuthenticatorTransport[])

const passkeyView = ({ id, name, created_at, last_used_at }: PasskeyView): PasskeyView => ({
  id,
  name,
  created_at,
  last_used_at,
})

const passkeyLimitReached = () => identityProblem('passkey_limit_reached', { max: PASSKEYS_MAX })

const passkeyNotVerified = (cause?: unknown) => identityProblem('passkey_not_verified', { cause })

const passkeyNotRecognised = (cause?: unknown) =>
  identityProblem('passkey_not_recognised', { cause })
