import { keyAudit } from '#audit/audit.ts'
import { StoredBrand } from '#brand/store.ts'
import type { Config } from '#config/config.ts'
import { systemClock } from '#platform/clock.ts'
import { openPlatform, type Platform, type PlatformOptions } from '#platform/platform.ts'
import type { Secrets } from '#platform/secrets.ts'
import { sandboxClock } from '#sandbox/clock.ts'
import { migrations } from './migrations.ts'

/**
 * Opens the platform with every room's tables, for the service and for commands. @throws Error for
 * the operator
 */
export async function openWithRooms(config: Config, options: PlatformOptions): Promise<Platform> {
  // Only a sandboxed payment processor allows a movable clock.
  const clock =
    options.clock ?? (config.processor.sandboxed ? sandboxClock(config.dataDir) : systemClock)
  const platform = await openPlatform(config, migrations, { ...options, clock })
  keyAudit(platform.db, platform.secrets.key('audit'))
  await new StoredBrand(platform).reload()
  return { ...platform, config: withSandboxSecrets(config, platform.secrets) }
}

/**
 * Adds the secrets that the sandbox signs its events with, unless they are set. They differ by data
 * folder.
 */
function withSandboxSecrets(config: Config, secrets: Secrets): Config {
  const { processor } = config
  if (!processor.sandboxed) return config
  const made = (name: string) =>
    `whsec_sandbox_${secrets.key(`sandbox/webhook/${name}`).toString('base64url')}`
  return Object.freeze({
    ...config,
    processor: Object.freeze({
      ...processor,
      webhookSecret: processor.webhookSecret ?? made('billing'),
      storefrontWebhookSecret: processor.storefrontWebhookSecret ?? made('storefront'),
    }),
  })
}
