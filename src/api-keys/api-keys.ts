// API keys that users make, name, rotate and revoke, and authentication by them. They are managed with a JWT alone: a
// key can neither make nor see keys.
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { eraseKeys, listKeys, revokeKeys } from './keys.ts'
import { apiKeyProblem } from './problems.ts'
import { apiKeyRoutes, keyView } from './routes.ts'
import { hasKeyPrefix } from './secret.ts'
import { createVerifier } from './verifier.ts'

export function createApiKeys(platform: Platform) {
  const verifier = createVerifier(platform)
  return {
    tags: [{ name: 'api-keys', description: 'Keys for programs', problems: apiKeyProblem.catalogue }],
    routes: (app: App) => apiKeyRoutes(app, platform, verifier),
    /** True when a bearer is meant as an API key, and not as a JWT. */
    claims: hasKeyPrefix,
    /** Null when the key is not valid now. */
    authenticate: verifier.verify,
    /** The tokens that the key may use in a month; null: no limit of its own. */
    monthlyTokens: verifier.monthlyTokens,
    /** For the user's full export; secrets are not kept and cannot be in it. */
    collect: async (db: Db, userId: string) => ({
      'api-keys': (await listKeys({ db }, userId)).map((key) => keyView(key, key.last_used_at)),
    }),
    revoke: (tx: Db, userId: string, made?: { after?: Instant; before?: Instant }) =>
      revokeKeys(platform, tx, userId, made),
    erase: (tx: Db, userId: string) => eraseKeys(platform, tx, userId),
    close: verifier.close,
  }
}
