import type { Config } from './config.ts'
import type { Service } from './service.ts'

/** Prints where everything is, for the person who just typed `npm start`. */
export function welcome(config: Config, service: Service): void {
  const { urls, http } = config
  const lines: [string, string][] = []
  if (service.api) lines.push(['User app', urls.frontend])
  if (service.storefront) lines.push(['Storefront', urls.storefront])
  if (service.api && config.mail.sandboxed) lines.push(['Mailbox', `${urls.base}/sandbox/mail`])
  if (service.api && config.debug) lines.push(['API reference', `${urls.base}/docs  and  ${urls.base}/redoc`])
  lines.push(['Data', service.platform.databaseAddress])
  const notice = service.superuserNotice
  lines.push(['Superuser', config.superuser?.email ?? notice?.link ?? 'npm run cli -- superuser add EMAIL'])
  if (config.superuser && notice) lines.push([notice.says, notice.link])

  const width = Math.max(...lines.map(([name]) => name.length))
  console.log(`\n  Latchkey is up on ${http.host}\n`)
  for (const [name, value] of lines) console.log(`  ${name.padEnd(width)}  ${value}`)
  if (config.sandbox.on) console.log('\n  The sandbox plays whatever has no key: npm run cli -- doctor says what.')
  console.log('')
}
