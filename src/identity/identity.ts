// Accounts and authentication. Composes the room from its files.
import cookie from '@fastify/cookie'
import type { AllowanceEmail } from '#mail/account-emails.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { handleErasure } from './account/deletion.ts'
import { handleVerification } from './account/email-verification.ts'
import {
  invite,
  listInvitations,
  type OpenInvitation,
  withdrawInvitation,
} from './account/invitations.ts'
import { accountRoutes } from './account/routes.ts'
import { changeUser, signOutUser, type UserChanges } from './admin/administration.ts'
import { setupRoutes } from './admin/setup-routes.ts'
import { ensureSuperuser, type SuperuserNotice } from './admin/superuser.ts'
import { handleOverrideEnds } from './admin/tier-override.ts'
import type { IdentityNeeds, LiveSession } from './deps.ts'
import { notifyAllowance } from './notify-owner.ts'
import { createProviders } from './oauth/providers.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { createHasher, type Hasher } from './passwords/hasher.ts'
import { handleReset } from './passwords/password-reset.ts'
import { passwordRoutes } from './passwords/routes.ts'
import { identityProblem } from './problems.ts'
import { secondFactorRoutes } from './second-factors/routes.ts'
import { type AccountView, handleExpiredViews, startView } from './sessions/account-views.ts'
import { type Authenticator, createAuthenticator } from './sessions/authenticate.ts'
import { createKeyring } from './sessions/keyring.ts'
import { endView } from './sessions/open-views.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { listSessions, type SessionRef } from './sessions/sessions.ts'
import { type Credentials, checkCredentials } from './sign-in/credentials.ts'
import { deviceCookie } from './sign-in/device-cookie.ts'
import {
  type CodeRequest,
  type CodeSignIn,
  checkEmailedCode,
  handleEmailedCode,
  requestEmailedCode,
} from './sign-in/emailed-code.ts'
import { createFailedSignIns } from './sign-in/failed-sign-ins.ts'
import { signInRoutes } from './sign-in/routes.ts'
import type { User } from './users.ts'

export type Identity = Room & {
  /** Returns the holder of an access token, or null when it is not valid now. */
  authenticate: Authenticator['authenticate']
  /** Checks credentials for the storefront's sign-in; see `credentials.ts`. */
  checkCredentials(credentials: Credentials): Promise<User>
  /** Emails a code for the storefront's sign-in, and checks it; see `emailed-code.ts`. */
  requestEmailedCode(request: CodeRequest): Promise<void>
  checkEmailedCode(signIn: CodeSignIn): Promise<User>
  /** The threads that hash passwords. */
  hasher: Hasher
  /** Implements PATCH of the admin room. */
  changeUser(actorId: string, userId: string, changes: UserChanges): Promise<User>
  /** Ends all sessions of a user. @throws Problem 404 */
  signOutUser(actorId: string, userId: string): Promise<void>
  /** Starts a read-only view of an account; see `account-views.ts`. */
  startView(viewer: SessionRef, view: { userId: string; reason: string }): Promise<AccountView>
  /** Ends the view that the session has open, if any. */
  endView(viewer: SessionRef): Promise<void>
  /** Lists the live sessions of a user, the most recently used first. */
  listSessions(userId: string): Promise<LiveSession[]>
  /** Mails an invitation; see `account/invitations.ts`. */
  invite(actorId: string, email: string): Promise<void>
  listInvitations(): Promise<OpenInvitation[]>
  withdrawInvitation(actorId: string, email: string): Promise<void>
  /** Emails the user the used share of their plan's budget. */
  tellOfAllowance(tx: Db, userId: string, allowance: Omit<AllowanceEmail, 'to'>): Promise<void>
  /** The link for becoming superuser, while there is none; set when the room is open. */
  readonly superuserNotice: SuperuserNotice
}

/** `hasher`: default a new one. A given hasher is closed by its owner. */
export function createIdentity(
  platform: Pick<
    Platform,
    | 'config'
    | 'db'
    | 'clock'
    | 'jobs'
    | 'secrets'
    | 'limiter'
    | 'bus'
    | 'log'
    | 'metrics'
    | 'business'
  >,
  { hasher = createHasher(), ...needs }: IdentityNeeds & { hasher?: Hasher | undefined },
): Identity {
  const deps = {
    ...platform,
    ...needs,
    hasher,
    keyring: createKeyring(platform),
    providers: createProviders(platform.config.oauth),
    failedSignIns: createFailedSignIns(platform),
    deviceCookie: deviceCookie({
      url: platform.config.urls.base,
      name: 'device',
      path: '/api/auth',
    }),
  }
  const authenticator = createAuthenticator(deps)
  handleVerification(deps)
  handleReset(deps)
  handleEmailedCode(deps)
  handleErasure(deps)
  handleExpiredViews(deps)
  handleOverrideEnds(deps)
  let superuserNotice: SuperuserNotice = null

  return {
    tags: [
      {
        name: 'auth',
        description: 'Registration, sign-in, tokens',
        problems: identityProblem.catalogue,
      },
      { name: 'users', description: 'The own account', problems: identityProblem.catalogue },
    ],
    limits: { signup: platform.config.limits.signup },
    authenticate: authenticator.authenticate,
    checkCredentials: (credentials) => checkCredentials(deps, credentials),
    requestEmailedCode: (request) => requestEmailedCode(deps, request),
    checkEmailedCode: (signIn) => checkEmailedCode(deps, signIn),
    hasher,
    routes(app) {
      accountRoutes(app, deps)
      passwordRoutes(app, deps)
      sessionRoutes(app, deps)
      // Only sign-ins use cookies: for the device, and for the browser during a provider's flow.
      app.register(async (scope) => {
        await scope.register(cookie)
        signInRoutes(scope as App, deps)
        oauthRoutes(scope as App, deps)
      })
      secondFactorRoutes(app, deps)
      setupRoutes(app, deps)
    },
    changeUser: (actorId, userId, changes) => changeUser(deps, actorId, userId, changes),
    signOutUser: (actorId, userId) => signOutUser(deps, actorId, userId),
    startView: (viewer, view) => startView(deps, viewer, view),
    endView: (viewer) => transaction(deps.db, (tx) => endView(deps, tx, viewer, 'by the viewer')),
    listSessions: (userId) => listSessions(deps, { userId, sessionId: null }),
    invite: (actorId, email) => invite(deps, actorId, email),
    listInvitations: () => listInvitations(deps),
    withdrawInvitation: (actorId, email) => withdrawInvitation(deps, actorId, email),
    tellOfAllowance: (tx, userId, alert) => notifyAllowance(deps, tx, userId, alert),
    get superuserNotice() {
      return superuserNotice
    },
    async open() {
      superuserNotice = await ensureSuperuser(deps)
    },
    async close() {
      await authenticator.close()
      await deps.failedSignIns.flush()
      await hasher.close()
    },
  }
}
