import type { Config } from '#config/config.ts'

/** Lists which services have a key, are sandboxed, or are off. Contains no secrets. */
export function configured(config: Config) {
  const played = (on: boolean, sandboxed: boolean) =>
    sandboxed ? 'sandbox' : on ? 'configured' : 'not configured'
  const { vendors } = config.ai
  return {
    database: config.databaseUrl === null ? 'sqlite' : 'postgres',
    redis: config.redisUrl === null ? 'not configured' : 'configured',
    billing: played(config.processor.secretKey !== null, config.processor.sandboxed),
    mail: played(config.mail.smtpUrl !== null, config.mail.sandboxed),
    vendors: Object.fromEntries(
      Object.entries(vendors).map(([name, vendor]) => [
        name,
        played(vendor.apiKey !== null, vendor.sandboxed),
      ]),
    ),
    oauth: {
      google: played(config.oauth.google !== null, config.oauth.google?.sandboxed ?? false),
      github: played(config.oauth.github !== null, config.oauth.github?.sandboxed ?? false),
    },
    embedder: config.embedder,
    products: config.products.location === null ? 'sandbox' : 'configured',
    sandbox: config.sandbox.on,
  }
}
