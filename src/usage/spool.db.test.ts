import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { type TestApp, testApp } from '#testing/app.ts'
import { type TcpProxy, tcpProxy } from '#testing/tcp-proxy.ts'
import type { UsageRecord } from './record.ts'
import { createSpool } from './spool.ts'

const recordOf = (app: TestApp, userId: string, tokens: number): UsageRecord => ({
  userId,
  keyId: null,
  route: '/test',
  vendor: 'openai',
  model: 'gpt-6-luna',
  promptTokens: 10,
  completionTokens: tokens - 10,
  cachedTokens: 0,
  costUsd: 0.000_001,
  latencyMs: 1,
  attempts: 1,
  tried: 'openai:ok',
  outcome: 'ok',
  isEstimated: false,
  startedAt: app.clock.now(),
})

/** A service whose database a test can keep from writing, and let write again. */
async function appWithDatabase(t: TestContext, env: Record<string, string> = {}) {
  const proxies: TcpProxy[] = []
  const app = await testApp(t, {
    env,
    databaseThrough: async (url) => {
      const proxy = await tcpProxy(t, url)
      proxies.push(proxy)
      return proxy.url
    },
  })
  const [proxy] = proxies
  const pragma = (state: string) => sql.raw(`pragma query_only = ${state}`).execute(app.platform.db)
  return {
    app,
    spool: join(app.dataDir, 'usage-spool.jsonl'),
    refuse: () => (proxy ? proxy.close() : pragma('on')),
    accept: () => (proxy ? proxy.open() : pragma('off')),
  }
}

const recordsOf = (app: TestApp) =>
  app.platform.db.selectFrom('usage_records').select(['user_id', 'prompt_tokens']).execute()

test('calls that the database does not take are recorded when it does, once, with their budget', async (t) => {
  const { app, spool, refuse, accept } = await appWithDatabase(t, { BUDGET_PRO_TOKENS: '1000' })
  const { ledger } = app.service.usage
  const call = { userId: 'ada', keyId: null, tier: 'pro', promptTokens: 10, completionTokens: 90 }
  const reservations = [await ledger.reserve(call), await ledger.reserve(call)]

  await refuse()
  for (const reservation of reservations) await ledger.settle(reservation, recordOf(app, 'ada', 40))
  const lines = readFileSync(spool, 'utf8').trim().split('\n')
  assert.equal(
    lines.filter((line) => line !== '').length,
    2,
    'they outlive the process before the caller hears the end',
  )
  const copy = `${spool}.copy`
  copyFileSync(spool, copy)
  await accept()

  while ((await recordsOf(app)).length < 2) await new Promise((resolve) => setTimeout(resolve, 50))
  const budget = () =>
    app.platform.db.selectFrom('usage_budgets').select(['used_tokens', 'reserved_tokens']).executeTakeFirstOrThrow()
  assert.deepEqual({ ...(await budget()) }, { used_tokens: 80, reserved_tokens: 0 })
  while (existsSync(spool)) await new Promise((resolve) => setTimeout(resolve, 50))

  // As a process leaves it that dies between the commit and the file's end.
  copyFileSync(copy, spool)
  await app.restart()
  assert.equal((await recordsOf(app)).length, 2)
  assert.equal((await budget()).used_tokens, 80)
  assert.equal(existsSync(spool), false)
})

test('what one process could not record the next one does', async (t) => {
  const { app, spool, refuse, accept } = await appWithDatabase(t)
  await refuse()
  await app.service.usage.ledger.settle(null, recordOf(app, 'eve', 20))
  assert.equal(existsSync(spool), true)
  const restarted = app.restart()
  await accept()
  await restarted
  assert.deepEqual(
    (await recordsOf(app)).map(({ user_id }) => user_id),
    ['eve'],
  )
})

test('half a line takes no other with it, and an entry that cannot be written keeps no other from it', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-spool-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const written: number[] = []
  const spool = createSpool<{ n: number }>({ dataDir, log }, async (entries) => {
    if (entries.some(({ n }) => n === 3)) throw new Error('no such user')
    written.push(...entries.map(({ n }) => n))
  })
  writeFileSync(join(dataDir, 'usage-spool.jsonl'), '{"n":1}\n{"n":')
  for (const n of [2, 3, 4]) await spool.add({ n })
  await spool.start()
  await spool.stop()

  assert.deepEqual(written, [1, 2, 4])
  assert.equal(lines.length, 2, lines.join(''))
})
