import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from '#testing/app.ts'

test('reports a port in use and leaves no process running', async (t) => {
  const [port = 0, servicePort = 0, storefrontPort = 0] = await freePorts(3)
  const other = createServer().listen(port, 'localhost')
  t.after(() => other.close())
  await once(other, 'listening')

  const dev = start(t, { port, servicePort, storefrontPort })
  assert.deepEqual(await dev.exit, [1, null])
  assert.match(
    dev.said(),
    new RegExp(`The user app cannot be served: Port ${port} is already in use`),
  )
  assert.equal(await answers(servicePort), false)
})

test('serves the service behind the user app and ends both together', async (t) => {
  const [port = 0, servicePort = 0, storefrontPort = 0] = await freePorts(3)
  const dev = start(t, { port, servicePort, storefrontPort })
  for (let tries = 0; tries < 600 && !(await answers(servicePort, '/healthz')); tries++)
    await wait(100)
  assert.equal(await answers(port, '/healthz'), true, dev.said())

  dev.stop()
  assert.deepEqual(await dev.exit, [0, null], dev.said())
  assert.equal(await answers(port), false)
  assert.equal(await answers(servicePort), false)
})

type Ports = { port: number; servicePort: number; storefrontPort: number }

function start(t: TestContext, { port, servicePort, storefrontPort }: Ports) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-dev-'))
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'dev.ts'), '--port', String(port)],
    {
      env: {
        ...process.env,
        PORT: String(servicePort),
        STOREFRONT_PORT: String(storefrontPort),
        DATA_DIR: folder,
        DATABASE_URL: '',
        REDIS_URL: '',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (text += part))
  const exit = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null) child.kill()
    await exit
    rmSync(folder, { recursive: true, force: true })
  })
  return { exit, said: () => text, stop: () => child.kill('SIGTERM') }
}

async function answers(port: number, path = '/'): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://localhost:${port}${path}`)
    return ok
  } catch {
    return false
  }
}
