// A start that cannot succeed ends with one sentence that helps, and exit code 1.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from '#testing/app.ts'

const MAIN = join(import.meta.dirname, '..', 'latchkey.js')

async function start(env: Record<string, string>, cwd = tmpdir()) {
  const child = spawn(process.execPath, [MAIN], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, output, errors }
}

test('a wrong setting stops the start with one line that names it', async () => {
  const { code, errors } = await start({ PORT: 'eighty' })
  assert.equal(code, 1)
  assert.equal(
    errors,
    "Latchkey cannot start: PORT is wrong: expected a port from 0 to 65535, got 'eighty'\n",
  )
})

test('a wrong setting in .env is named too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-env-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, '.env'), 'RATE_LIMIT_AI=lots\n')
  const { code, errors } = await start({}, folder)
  assert.equal(code, 1)
  assert.match(errors, /^Latchkey cannot start: RATE_LIMIT_AI is wrong: .*\n$/)
})

test('production does not start without a SECRET_KEY that nobody guesses', async () => {
  const { code, errors } = await start({ NODE_ENV: 'production' })
  assert.equal(code, 1)
  assert.match(errors, /^Latchkey cannot start: SECRET_KEY is not set: .*\n$/)
  const guessable = await start({ NODE_ENV: 'production', SECRET_KEY: 'changeme' })
  assert.equal(guessable.code, 1)
  assert.match(
    guessable.errors,
    /^Latchkey cannot start: SECRET_KEY is shorter than 16 characters: .*\n$/,
  )
})

test('a busy port is named, with the setting that moves it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-busy-'))
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    holder.close()
    rmSync(folder, { recursive: true })
  })
  const { port } = holder.address() as { port: number }
  const [other] = await freePorts(1)
  const { code, errors } = await start({
    PORT: String(other),
    STOREFRONT_PORT: String(port),
    DATA_DIR: folder,
    SERVE: 'storefront',
    LOG_LEVEL: 'error',
  })
  assert.equal(code, 1)
  assert.equal(
    errors,
    `Latchkey cannot start: port ${port} is taken by another program: stop it, or set STOREFRONT_PORT to another port\n`,
  )
})

test('a data folder that cannot be used is named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-ro-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // A file where the folder should be: refused for every user, root too.
  writeFileSync(join(folder, 'data'), '')
  for (const dataDir of [
    join(folder, 'data'),
    join(folder, 'data', 'below'),
    '/proc/nothing/at/all',
  ]) {
    const { code, errors } = await start({ DATA_DIR: dataDir })
    assert.equal(code, 1)
    assert.match(
      errors,
      /^Latchkey cannot start: the data folder .* cannot be used \(.*\): make it writable, or set DATA_DIR\n$/,
    )
  }
})

test('a database that does not answer is named, without its password', async () => {
  const [port] = await freePorts(1)
  const address = `postgres://latchkey:hunter2@127.0.0.1:${port}/latchkey`
  const { code, errors } = await start({ DATABASE_URL: address, ORIGINALS_DIR: 'off' })
  assert.equal(code, 1)
  assert.match(errors, /^Latchkey cannot start: .*127\.0\.0\.1.*\n$/)
  assert.doesNotMatch(errors, /hunter2/)
})

test('with DATABASE_URL and no word on where uploaded files lie nothing starts', async () => {
  const [port] = await freePorts(1)
  const { code, errors } = await start({
    DATABASE_URL: `postgres://latchkey@127.0.0.1:${port}/latchkey`,
  })
  assert.equal(code, 1)
  assert.match(
    errors,
    /^Latchkey cannot start: ORIGINALS_DIR is not set: .*s3:\/\/bucket\/prefix.*off\n$/,
  )
})

test('a second start on one data folder is refused; after a kill the next one takes it over', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-twice-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = (serve: string, port: number) => ({
    DATA_DIR: folder,
    PORT: '1',
    STOREFRONT_PORT: String(port),
    SERVE: serve,
    LOG_LEVEL: 'error',
  })
  const ports = await freePorts(4)
  const first = await running(t, env('storefront,worker', ports[0]!))
  if (process.platform === 'linux') {
    // The service runs in the started process, not in a child, so signals reach it.
    assert.match(
      readFileSync(`/proc/${first.pid}/environ`, 'utf8'),
      /(?:^|\0)MALLOC_MMAP_THRESHOLD_=16384\0/,
    )
  }
  for (const serve of ['storefront', 'worker,api']) {
    const second = await start(env(serve, ports[1]!))
    assert.equal(second.code, 1)
    assert.equal(
      second.errors,
      `Latchkey cannot start: the data folder ${folder} is in use by process ${first.pid}: stop it, or set DATA_DIR (several nodes need DATABASE_URL)\n`,
    )
  }
  first.kill('SIGKILL')
  await new Promise((resolve) => first.once('exit', resolve))
  await running(t, env('storefront,worker', ports[2]!))
})

/** A service that answers. */
async function running(t: TestContext, env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  for (let tries = 0; tries < 600; tries++) {
    assert.equal(child.exitCode, null, 'it ended')
    const alive = await fetch(`http://127.0.0.1:${env.STOREFRONT_PORT}/healthz`).catch(() => null)
    if (alive?.ok) return child
    await wait(50)
  }
  throw new Error('it does not answer')
}

for (const [nodeEnv, env] of [
  ['development', {}],
  ['production', { SECRET_KEY: 'a secret of the operator' }],
] as const) {
  test(`${nodeEnv} says once where it is, ${nodeEnv === 'production' ? 'in the log' : 'to people'}, and goes on a signal`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-welcome-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const [port = 0, storefrontPort = 0] = await freePorts(2)
    const child = spawn(process.execPath, [MAIN], {
      cwd: tmpdir(),
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_ENV: nodeEnv,
        DATA_DIR: folder,
        PORT: `${port}`,
        STOREFRONT_PORT: `${storefrontPort}`,
        DRAIN: 'delay_s=2',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    // The way to a superuser is the last of the lines.
    const isWhole = () => /Latchkey is up[\s\S]*(superuser add EMAIL|token=)/.test(output)
    for (let tries = 0; tries < 1_200 && !isWhole(); tries++) await wait(50)
    await wait(200)
    const lines = output.split('\n').filter((line) => line !== '')
    assert.doesNotMatch(output, /Server listening/)
    const json = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    if (nodeEnv === 'production') {
      assert.equal(json.length, lines.length, output)
      assert.ok(
        json.some(({ msg, app }) => msg === 'Latchkey is up' && app === `http://localhost:${port}`),
      )
      // The log never contains a link that creates a superuser.
      assert.doesNotMatch(output, /setup\?|token=/)
      assert.ok(json.some(({ msg }) => /superuser add EMAIL/.test(msg)))
    } else {
      assert.match(output, /Superuser +http:.*token=/)
      assert.deepEqual(
        json.filter(({ msg }) => msg !== 'building the user app (once)'),
        [],
      )
    }

    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    )
    assert.ok(files.some((path) => path.endsWith('latchkey.db')))
    for (const path of files)
      assert.equal(statSync(path).mode & 0o077, 0, `${path} is open to other users`)

    child.kill('SIGTERM')
    for (let tries = 0; tries < 100 && !output.includes('"draining"'); tries++) await wait(20)
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    assert.equal(ready.status, 503)
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 0)
  })
}
