/** The process: settings, service, ports, a welcome; and on a signal the way back. */
import { configFromProcess, wantsDetails } from './config/config.ts'

// Every file that this process writes is for its owner alone.
process.umask(0o077)
await start().catch((error: Error) => {
  console.error(`Latchkey cannot start: ${error.message}`)
  if (wantsDetails()) console.error(error)
  process.exit(1)
})

async function start() {
  const config = configFromProcess({ for: 'service' })

  const { createService } = await import('./app/service.ts')
  // `npm run dev` serves the user app itself, from its sources.
  const service = await createService(config, { userApp: !process.argv.includes('--no-user-app') })
  await service.listen()

  const { welcome } = await import('./app/welcome.ts')
  welcome(config, service)

  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // A second signal does not wait.
      if (stopping) process.exit(1)
      stopping = true
      service.platform.log.info({ signal }, 'draining')
      await service.close(config.drain.seconds * 1_000, config.drain.delaySeconds * 1_000)
      process.exit(0)
    })
  }
}
