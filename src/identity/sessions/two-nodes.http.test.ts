// Two nodes, each a separate process, on one database: a session ended on one has ended on the
// other within a second.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { call, createClient, freePorts, PASSWORD } from '#testing/app.ts'
import { freshDatabaseUrl } from '#testing/database.ts'

const ENTRY = join(import.meta.dirname, '..', '..', '..', 'latchkey.js')
const ROOT = { email: 'root@example.com', password: 'root of all that is' }

const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env
const onServer = Boolean(TEST_DATABASE_URL)

test(
  'on one PostgreSQL, without Redis',
  {
    skip:
      !onServer &&
      'no TEST_DATABASE_URL: a SQLite folder has one node, the embedded PostgreSQL one connection',
  },
  (t) => walk(t, ''),
)

test(
  'on one PostgreSQL, with Redis',
  { skip: !(onServer && TEST_REDIS_URL) && 'no TEST_DATABASE_URL and TEST_REDIS_URL' },
  (t) => walk(t, TEST_REDIS_URL ?? ''),
)

async function walk(t: TestContext, redisUrl: string) {
  const [here, there] = await startNodes(t, redisUrl)
  const signIn = async (email: string, password = PASSWORD) => {
    const { status, body, text } = await call(here, 'POST', '/api/auth/login', {
      body: { email, password },
    })
    assert.equal(status, 200, text)
    return {
      userId: body.user.id as string,
      token: body.access_token as string,
      refresh: body.refresh_token as string,
    }
  }
  const person = async (name: string) => {
    const email = `${name}@example.com`
    const registered = await call(here, 'POST', '/api/auth/register', {
      body: { email, password: PASSWORD },
    })
    assert.equal(registered.status, 201, registered.text)
    return { email, ...(await signIn(email)) }
  }
  const at = (url: string, { token }: { token: string }) =>
    createClient(url, token, { email: '', userId: '', refreshToken: '' })
  const me = async (url: string, who: { token: string }) =>
    (await at(url, who).get('/api/auth/me')).status

  const root = await signIn(ROOT.email, ROOT.password)
  /** Changes on one node to a session that the other has just used and cached. */
  const endings: Record<string, (victim: Awaited<ReturnType<typeof person>>) => Promise<unknown>> =
    {
      'the session is ended': async (victim) => {
        const other = await signIn(victim.email)
        const [, payload = ''] = victim.token.split('.')
        const { sid } = JSON.parse(Buffer.from(payload, 'base64url').toString())
        return at(here, other).delete(`/api/users/me/sessions/${sid}`)
      },
      'the password is changed': async (victim) =>
        at(here, await signIn(victim.email)).post('/api/users/me/change-password', {
          current_password: PASSWORD,
          new_password: 'another good password',
        }),
      'the address is changed': async (victim) =>
        at(here, await signIn(victim.email)).post('/api/users/me/change-email', {
          new_email: `new-${victim.email}`,
          password: PASSWORD,
        }),
      'the account is switched off': (victim) =>
        at(here, root).patch(`/api/admin/users/${victim.userId}`, { is_active: false }),
      'the account is deleted': async (victim) =>
        at(here, await signIn(victim.email)).delete('/api/users/me', { password: PASSWORD }),
    }
  for (const [index, [what, end]] of Object.entries(endings).entries()) {
    await t.test(what, async (t) => {
      const victim = await person(`ada${index}`)
      for (const url of [here, there]) assert.equal(await me(url, victim), 200)
      const ended = await keepAsking(() => me(there, victim), end(victim))
      assert.equal(ended.reply.status, 200, ended.reply.text)
      t.diagnostic(
        `seen on the other node ${ended.seenMs === null ? 'not before a second' : `after ${ended.seenMs} ms`}`,
      )
      for (const url of [here, there]) assert.equal(await me(url, victim), 401)
      const refreshed = await call(there, 'POST', '/api/auth/refresh', {
        body: { refresh_token: victim.refresh },
      })
      assert.equal(refreshed.status, 401)
    })
  }

  await t.test('an end that nobody tells the other node of: a replay', async () => {
    const victim = await person('replayed')
    const next = (
      await call(here, 'POST', '/api/auth/refresh', { body: { refresh_token: victim.refresh } })
    ).body
    assert.equal(await me(there, { token: next.access_token }), 200)
    // The grace is 10 s of the nodes' own clocks, which no test moves in another process.
    await wait(10_100)
    const replay = await call(here, 'POST', '/api/auth/refresh', {
      body: { refresh_token: victim.refresh },
    })
    assert.equal(replay.status, 401)
    await wait(1_000)
    assert.equal(await me(there, { token: next.access_token }), 401)
  })

  await t.test('a crowd of refreshes at both nodes logs nobody out', async () => {
    let { refresh } = await person('tabs')
    for (let trial = 0; trial < 10; trial++) {
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          call(index % 2 ? here : there, 'POST', '/api/auth/refresh', {
            body: { refresh_token: refresh },
          }),
        ),
      )
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200], `trial ${trial}`)
      assert.equal(new Set(replies.map(({ body }) => body.refresh_token)).size, 1)
      refresh = replies[0]!.body.refresh_token
    }
  })

  await t.test(
    'a key that one node made signs tokens that the other reads, and one right is granted on both',
    async () => {
      const boss = await person('boss')
      assert.equal((await at(there, boss).get('/api/admin/stats')).status, 403)
      const granted = await at(here, root).patch(`/api/admin/users/${boss.userId}`, {
        is_superuser: true,
      })
      assert.equal(granted.status, 200, granted.text)
      await wait(1_000)
      assert.equal((await at(there, boss).get('/api/admin/stats')).status, 200)
    },
  )
}

/**
 * Asks all the while, so that the other node's memory is as fresh as it gets; returns a second
 * after the end.
 */
async function keepAsking<R>(ask: () => Promise<number>, end: Promise<R>) {
  let done: { reply: R; atMs: number } | null = null
  let seenMs: number | null = null
  const ending = end.then((reply) => {
    done = { reply: reply as R, atMs: performance.now() }
  })
  for (;;) {
    const status = await ask()
    const finished = done as { reply: R; atMs: number } | null
    if (finished && status === 401) seenMs ??= Math.round(performance.now() - finished.atMs)
    if (finished && performance.now() - finished.atMs >= 1_000) break
    await wait(20)
  }
  await ending
  const { reply } = done as unknown as { reply: { status: number; text: string } }
  return { reply, seenMs }
}

async function startNodes(t: TestContext, redisUrl: string): Promise<[string, string]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-nodes-'))
  const database = await freshDatabaseUrl()
  const ports = await freePorts(4)
  const base = `http://127.0.0.1:${ports[0]}`
  const nodes: ChildProcess[] = []
  t.after(async () => {
    await Promise.all(nodes.map(stop))
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const start = async (port: number, storefrontPort: number) => {
    const node = spawn(process.execPath, [ENTRY], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        PORT: String(port),
        STOREFRONT_PORT: String(storefrontPort),
        BASE_URL: base,
        DATA_DIR: dataDir,
        DATABASE_URL: database.url ?? '',
        ORIGINALS_DIR: join(dataDir, 'originals'),
        REDIS_URL: redisUrl === '' ? '' : `${redisUrl}?prefix=${basename(dataDir)}`,
        SUPERUSER_EMAIL: ROOT.email,
        SUPERUSER_PASSWORD: ROOT.password,
        RATE_LIMIT_GENERAL: 'off',
        RATE_LIMIT_AUTH: 'off',
        RATE_LIMIT_SIGNUP: 'off',
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    nodes.push(node)
    await untilAlive(`http://127.0.0.1:${port}`, node)
  }
  await start(ports[0]!, ports[1]!)
  await start(ports[2]!, ports[3]!)
  return [base, `http://127.0.0.1:${ports[2]}`]
}

async function untilAlive(url: string, node: ChildProcess) {
  while (node.exitCode === null) {
    const alive = await fetch(`${url}/healthz`).then(
      (reply) => reply.ok,
      () => false,
    )
    if (alive) return
    await wait(50)
  }
  throw new Error('a node did not start')
}

async function stop(node: ChildProcess) {
  if (node.exitCode !== null) return
  const ended = new Promise((resolve) => node.once('exit', resolve))
  node.kill('SIGTERM')
  await ended
}
