import { type Config, exposures } from '#config/config.ts'
import type { Service } from './service.ts'

/**
 * Prints the addresses of the service to the terminal; in production without a terminal, logs them.
 * The one-time link is never logged, because logs are stored and others read them.
 */
export function welcome(config: Config, service: Service): void {
  if (config.production && !process.stdout.isTTY) logWelcome(config, service)
  else printWelcome(config, service)
}

function logWelcome(
  config: Config,
  { platform: { log, databaseAddress }, api, storefront, superuserNotice }: Service,
) {
  const { urls, http, serve } = config
  log.info(
    {
      host: http.host,
      serve: [...serve],
      ...(api ? { app: urls.frontend } : {}),
      ...(storefront ? { storefront: urls.storefront } : {}),
      database: databaseAddress,
    },
    'Latchkey is up',
  )
  if (superuserNotice)
    log.warn(
      'the link for the superuser stands in no log: npm run cli -- superuser add EMAIL prints one',
    )
  for (const { setting, says } of exposures(config)) log.warn({ setting }, says)
}

function printWelcome(config: Config, service: Service): void {
  const { urls, http } = config
  const lines: [string, string][] = []
  if (service.api) lines.push(['User app', urls.frontend])
  if (service.storefront) lines.push(['Storefront', urls.storefront])
  if (service.api && config.mail.sandboxed) lines.push(['Mailbox', `${urls.base}/sandbox/mail`])
  if (service.api && config.debug)
    lines.push(['API reference', `${urls.base}/docs  and  ${urls.base}/redoc`])
  lines.push(['Data', service.platform.databaseAddress])
  const notice = service.superuserNotice
  lines.push([
    'Superuser',
    config.superuser?.email ?? notice?.link ?? 'npm run cli -- superuser add EMAIL',
  ])
  if (config.superuser && notice) lines.push([notice.says, notice.link])

  const width = Math.max(...lines.map(([name]) => name.length))
  console.log(`\n  Latchkey is up on ${http.host}\n`)
  for (const [name, value] of lines) console.log(`  ${name.padEnd(width)}  ${value}`)
  if (config.sandbox.on)
    console.log(
      '\n  The sandbox stands in for services without a key. List them: npm run cli -- doctor',
    )
  for (const { says } of exposures(config)) console.log(`\n  ✖ ${says}`)
  console.log('')
}
