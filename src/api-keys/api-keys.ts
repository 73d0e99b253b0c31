// API keys: users create, name, rotate and revoke them, and programs authenticate with them.
// Managing keys requires a JWT: a key can neither create nor list keys.
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { callerNow } from './caller-now.ts'
import { eraseKeys, keyBudgets, listKeys, revokeKeys } from './keys.ts'
import { apiKeyProblem } from './problems.ts'
import { apiKeyRoutes, type KeyUse, keyView } from './routes.ts'
import { hasKeyPrefix } from './secret.ts'
import { createVerifier } from './verifier.ts'

export type ApiKeys = ReturnType<typeof createApiKeys>

export function createApiKeys(
  platform: Pick<
    Platform,
    'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'limiter' | 'bus' | 'log'
  >,
  { keyUse }: { keyUse: KeyUse },
) {
  const verifier = createVerifier(platform)
  return {
    tags: [
      { name: 'api-keys', description: 'Keys for programs', problems: apiKeyProblem.catalogue },
    ],
    routes: (app: App) => apiKeyRoutes(app, platform, verifier, keyUse),
    /** Returns true when a bearer token has the form of an API key, and not of a JWT. */
    claims: hasKeyPrefix,
    /** Returns null when the key is not valid now. */
    authenticate: verifier.verify,
    /**
     * Returns the caller on whose behalf a background job runs; null when the user or their key is
     * gone.
     */
    callerNow: (asker: Pick<Caller, 'userId' | 'keyId'>) => callerNow(platform, asker),
    /** The user's live keys that have a budget in dollars. */
    budgets: (userId: string) => keyBudgets(platform, userId),
    /** The user's full export. It cannot contain secrets, because they are not stored. */
    collect: async (db: Db, userId: string) => ({
      'api-keys': (await listKeys({ db }, userId)).map((key) => keyView(key, key.last_used_at)),
    }),
    revoke: (tx: Db, userId: string, made?: { after?: Instant; before?: Instant }) =>
      revokeKeys(platform, tx, userId, made),
    erase: (tx: Db, userId: string) => eraseKeys(platform, tx, userId),
    close: verifier.close,
  }
}
