// Guards accounts: who someone is, how they prove it, and what becomes of an account.
// One thing to know: this wires the room; each rule lives in the file named after its noun.
import cookie from '@fastify/cookie'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { userRoutes } from './account/routes.ts'
import { changeUser, type UserChanges } from './admin/administration.ts'
import { setupRoutes } from './admin/setup-routes.ts'
import { addSuperuser, ensureSuperuser, type SuperuserNotice } from './admin/superuser.ts'
import type { IdentityDeps, IdentityNeeds } from './deps.ts'
import { handleIdentityJobs, startCleaning } from './jobs.ts'
import type { OAuthDeps } from './oauth/flow.ts'
import { createProviders } from './oauth/providers.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { createHasher } from './passwords/hasher.ts'
import { identityProblem } from './problems.ts'
import { secondFactorRoutes } from './second-factors/routes.ts'
import { type Authenticator, createAuthenticator } from './sessions/authenticate.ts'
import { createKeyring } from './sessions/keyring.ts'
import { authRoutes } from './sign-in/routes.ts'
import type { User } from './users.ts'

export type Identity = Room & {
  /** What the room's rules take as their first argument; other rooms hand it to `checkCredentials`. */
  deps: IdentityDeps
  /** Who holds this access token; null when it is not valid now. */
  authenticate: Authenticator['authenticate']
  /** The rule behind the admin room's PATCH. */
  changeUser(actorId: string, userId: string, changes: UserChanges): Promise<User>
  /** Promotes the account, or makes it; see `superuser.ts`. */
  addSuperuser(email: string): Promise<{ user: User }>
  /** How to become the superuser, while there is none; known once the room is open. */
  readonly superuserNotice: SuperuserNotice
}

export function createIdentity(platform: Platform, needs: IdentityNeeds): Identity {
  const deps: OAuthDeps = {
    ...platform,
    ...needs,
    hasher: createHasher(),
    keyring: createKeyring(platform),
    providers: createProviders(platform.config.oauth),
  }
  const authenticator = createAuthenticator(deps)
  handleIdentityJobs(deps)
  const stopCleaning = startCleaning(deps)
  let superuserNotice: SuperuserNotice = null

  return {
    tags: [
      { name: 'auth', description: 'Registration, sign-in, tokens', problems: identityProblem.catalogue },
      { name: 'users', description: 'The own account', problems: identityProblem.catalogue },
    ],
    limits: { signup: platform.config.limits.signup },
    deps,
    authenticate: authenticator.authenticate,
    routes(app) {
      authRoutes(app, deps)
      userRoutes(app, deps)
      // Only a sign-in through a provider is bound to the browser by a cookie.
      app.register(async (scope) => {
        await scope.register(cookie)
        oauthRoutes(scope as App, deps)
      })
      secondFactorRoutes(app, deps)
      setupRoutes(app, deps)
    },
    changeUser: (actorId, userId, changes) => changeUser(deps, actorId, userId, changes),
    addSuperuser: (email) => addSuperuser(deps, email),
    get superuserNotice() {
      return superuserNotice
    },
    async open() {
      superuserNotice = await ensureSuperuser(deps)
    },
    async close() {
      stopCleaning()
      await authenticator.close()
      await deps.hasher.close()
    },
  }
}
