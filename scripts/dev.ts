/**
 * `npm run dev`: runs the service and the user app from their sources under one address. Vite's
 * server receives all requests and forwards those of the service. It shows a change under web/ at
 * once; a change under src/ or to .env restarts the service.
 * The script watches files itself: Node's --watch makes every worker thread report its imports to
 * the thread's owner, which takes them for answers and fails.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createServer } from 'vite'
import { configFromProcess } from '../src/config/config.ts'

const ROOT = join(import.meta.dirname, '..')
const { port } = parseArgs({ options: { port: { type: 'string', default: '5173' } } }).values
const ADDRESS = `http://localhost:${port}`
/** One save causes several events, and an editor may write several files. */
const SETTLE_MS = 100

const env = {
  // Links in emails and sign-ins through a provider lead to Vite's address.
  FRONTEND_URL: ADDRESS,
  // In development, a restart does not wait for open streams.
  DRAIN: 'running_s=1',
  // The environment before .env was read into it: the service reads that file at each start.
  ...process.env,
}
const stopped = new WeakSet<ChildProcess>()

const vite = await startVite()
let service = startService()
watchSources()
// Vite's handler would end the process while the service still drains.
process.removeAllListeners('SIGTERM')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, close)

async function startVite() {
  const { http } = configFromProcess({ for: 'service' })
  process.env.API_URL ??= `http://127.0.0.1:${http.port}`
  const server = await createServer({
    configFile: join(ROOT, 'web', 'vite.config.ts'),
    clearScreen: false,
    server: { port: Number(port), strictPort: true },
  })
  await server.listen().catch((error: Error) => {
    console.error(`The user app cannot be served: ${error.message}`)
    process.exit(1)
  })
  return server
}

function startService(): ChildProcess {
  const args = ['--max-semi-space-size=8', join(ROOT, 'latchkey.js'), '--no-user-app']
  // In a separate process group, so that Ctrl-C reaches it once, through `close`: a second signal
  // would end it without a drain.
  const child = spawn(process.execPath, args, { stdio: 'inherit', env, detached: true })
  child.once('exit', () => {
    if (!stopped.has(child)) console.log('The service has ended. It restarts at the next change.')
  })
  return child
}

async function stopService(): Promise<void> {
  stopped.add(service)
  if (service.exitCode !== null || service.signalCode !== null) return
  service.kill('SIGTERM')
  await once(service, 'exit')
}

function watchSources(): void {
  let timer: NodeJS.Timeout | undefined
  let restarted = Promise.resolve()
  const restart = async () => {
    await stopService()
    service = startService()
  }
  const changed = (file: string) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      console.log(`${file} has changed`)
      restarted = restarted.then(restart)
    }, SETTLE_MS)
  }
  watch(join(ROOT, 'src'), { recursive: true }, (_, file) => {
    if (file !== null && !file.startsWith('testing/') && !file.endsWith('.test.ts'))
      changed(`src/${file}`)
  })
  watch(ROOT, (_, file) => {
    if (file === '.env' || file === 'latchkey.js') changed(file)
  })
}

async function close(): Promise<void> {
  await Promise.all([stopService(), vite.close()])
  process.exit(0)
}
