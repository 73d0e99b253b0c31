// Guards accounts: who someone is, how they prove it, and what becomes of an account.
// One thing to know: this wires the room; each rule lives in the file named after its noun.
import cookie from '@fastify/cookie'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { changeUser, type UserChanges } from './administration.ts'
import { authRoutes } from './auth-routes.ts'
import { type Authenticator, createAuthenticator } from './authenticate.ts'
import type { IdentityDeps, IdentityNeeds } from './deps.ts'
import { createHasher } from './hasher.ts'
import { handleIdentityJobs, startCleaning } from './jobs.ts'
import { createKeyring } from './keyring.ts'
import type { OAuthDeps } from './oauth.ts'
import { createProviders } from './oauth-providers.ts'
import { oauthRoutes } from './oauth-routes.ts'
import { secondFactorRoutes } from './second-factor-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { addSuperuser, ensureSuperuser, type SuperuserNotice } from './superuser.ts'
import { userRoutes } from './user-routes.ts'
import type { User } from './users.ts'

export type Identity = {
  /** What the room's rules take as their first argument; other rooms hand it to `checkCredentials`. */
  deps: IdentityDeps
  /** Who holds this access token; null when it is not valid now. */
  authenticate: Authenticator['authenticate']
  routes(app: App): void
  /** The rule behind the admin room's PATCH. */
  changeUser(actorId: string, userId: string, changes: UserChanges): Promise<User>
  /** Promotes the account, or makes it; see `superuser.ts`. */
  addSuperuser(email: string): Promise<{ user: User }>
  /** Makes the configured superuser, or says how to become one. */
  ensureSuperuser(): Promise<SuperuserNotice>
  close(): Promise<void>
}

export function createIdentity(platform: Platform, needs: IdentityNeeds): Identity {
  const deps: OAuthDeps = {
    ...platform,
    ...needs,
    hasher: needs.hasher ?? createHasher(),
    keyring: createKeyring(platform),
    providers: createProviders(platform.config.oauth),
  }
  const authenticator = createAuthenticator(deps)
  handleIdentityJobs(deps)
  const stopCleaning = startCleaning(deps)

  return {
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
    ensureSuperuser: () => ensureSuperuser(deps),
    async close() {
      stopCleaning()
      await authenticator.close()
      await deps.hasher.close()
    },
  }
}
