// The whole process: a saved key, a restart in the same process, and the next start.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { settingsPath } from '#config/settings-file.ts'
import { call, freePorts, PASSWORD } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'latchkey.js')
const EMAIL = 'root@example.com'

async function startProcess(t: TestContext, env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [MAIN, '--no-user-app'], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${env.PORT}`
  await until(async () => {
    assert.equal(child.exitCode, null, 'it ended')
    return (await call(url, 'GET', '/readyz')).status === 200
  })
  const login = { email: EMAIL, password: PASSWORD }
  const { body } = await call(url, 'POST', '/api/auth/login', { body: login })
  const { id } = body.user
  const headers = { authorization: `Bearer ${body.access_token}` }
  const ask = (method: string, path: string, body?: unknown) =>
    call(url, method, path, { headers, body })
  const paying = await ask('PATCH', `/api/admin/users/${id}`, { subscription_tier: 'pro' })
  assert.equal(paying.status, 200, paying.text)
  return {
    child,
    ask,
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (
      await isSo().catch((error) =>
        error instanceof assert.AssertionError ? Promise.reject(error) : false,
      )
    )
      return
    await wait(50)
  }
  throw new Error('it did not come true')
}

test('a saved key is used after a restart in the same process, and after the next start', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-restart-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const vendor = await mockVendor(t)
  const [port, storefrontPort] = await freePorts(2)
  const env = {
    NODE_ENV: 'production',
    SECRET_KEY: 'a secret of the operator',
    DRAIN: 'delay_s=0',
    DATA_DIR: dataDir,
    PORT: `${port}`,
    STOREFRONT_PORT: `${storefrontPort}`,
    SUPERUSER_EMAIL: EMAIL,
    SUPERUSER_PASSWORD: PASSWORD,
    ANTHROPIC_BASE_URL: vendor.url,
  }
  const { child, ask } = await startProcess(t, env)
  const saved = await ask('POST', '/api/admin/setup/models', {
    vendor: 'anthropic',
    api_key: 'sk-ant-saved-by-the-page',
  })
  assert.equal(saved.status, 200, saved.text)
  assert.equal(statSync(settingsPath(dataDir)).mode & 0o777, 0o600)

  // A slow answer is on its way; the restart lets it end.
  const { promise: release, resolve } = Promise.withResolvers<void>()
  vendor.play(async (vendorCall, reply) => {
    await release
    await says('Slow but whole')(vendorCall, reply)
  })
  const running = ask('POST', '/api/ai/completions', { prompt: 'Hello', provider: 'anthropic' })
  await until(async () => vendor.calls.length === 1)
  assert.equal(vendor.calls[0]?.headers['x-api-key'], 'none')
  const { started_at } = (await ask('POST', '/api/admin/setup/restart')).body
  const refuses = () =>
    ask('GET', '/readyz').then(
      ({ status }) => status === 503,
      () => true,
    )
  await until(refuses)
  resolve()
  const answer = await running
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /Slow but whole/)

  await until(async () => {
    assert.equal(child.exitCode, null, 'it ended')
    const { status, body } = await ask('GET', '/api/admin/setup')
    return status === 200 && body.started_at !== started_at
  })
  const used = async (client: typeof ask) => {
    vendor.play(says('Hello'))
    const reply = await client('POST', '/api/ai/completions', {
      prompt: 'Hello',
      provider: 'anthropic',
    })
    assert.equal(reply.status, 200, reply.text)
    return vendor.calls[0]?.headers['x-api-key']
  }
  assert.equal(await used(ask), 'sk-ant-saved-by-the-page')

  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  const next = await startProcess(t, env)
  assert.equal(await used(next.ask), 'sk-ant-saved-by-the-page')
  next.child.kill('SIGTERM')
  await once(next.child, 'exit')

  const other = await startProcess(t, { ...env, ANTHROPIC_API_KEY: 'sk-ant-of-the-environment' })
  assert.equal(await used(other.ask), 'sk-ant-of-the-environment')
  const refused = spawn(process.execPath, [MAIN], {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      ...env,
      DATABASE_URL: 'postgres://127.0.0.1:1/x',
      ORIGINALS_DIR: 'off',
    },
  })
  let errors = ''
  refused.stderr.on('data', (bytes) => (errors += bytes))
  assert.deepEqual(await once(refused, 'close'), [1, null])
  assert.match(errors, /settings\.json does not apply with DATABASE_URL/)
})
