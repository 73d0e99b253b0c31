/** The process: settings, service, ports, a welcome; and on a signal the way back. */
import {
  configFromProcess,
  processEnv,
  rememberSavedSettings,
  wantsDetails,
} from './config/config.ts'

// Every file that this process writes is for its owner alone.
process.umask(0o077)
await start().catch(exit)

function exit(error: unknown): never {
  console.error(`Latchkey cannot start: ${(error as Error).message}`)
  if (wantsDetails()) console.error(error)
  process.exit(1)
}

async function start() {
  // A wrong setting stops the start before the modules of the service are loaded.
  configFromProcess({ for: 'service' })
  const [{ createService }, { ServiceProcess }, { welcome }] = await Promise.all([
    import('./app/service.ts'),
    import('./app/service-process.ts'),
    import('./app/welcome.ts'),
  ])

  const life = new ServiceProcess({
    async start(host) {
      const config = configFromProcess({ for: 'service' })
      const service = await createService(config, {
        // `npm run dev` serves the user app itself, from its sources.
        userApp: !process.argv.includes('--no-user-app'),
        host: { env: processEnv(), ...host },
      })
      await service.listen().catch(async (error) => {
        await service.close(0)
        throw error
      })
      return { config, service }
    },
    rememberSettings: rememberSavedSettings,
    onLost: exit,
  })
  const { config, service } = await life.start()
  welcome(config, service)

  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      // A second signal does not wait.
      if (stopping) process.exit(1)
      stopping = true
      await life.stop()
      process.exit(0)
    })
  }
}
