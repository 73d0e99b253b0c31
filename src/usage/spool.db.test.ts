import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { AsyncCommit, Run } from '#platform/db/adapter.ts'
import { DatabaseUnreachable, databaseFailure } from '#platform/db/failures.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type TcpProxy, tcpProxy } from '#testing/tcp-proxy.ts'
import { OpenCalls } from './open-calls.ts'
import type { UsageRecord } from './record.ts'
import { Spool } from './spool.ts'

const recordOf = (app: TestApp, userId: string, tokens: number): UsageRecord => ({
  userId,
  keyId: null,
  tier: 'pro',
  reasoningTokens: 0,
  firstTokenMs: null,
  status: 200,
  errorCode: null,
  requestId: null,
  vendorRequestId: null,
  endUser: '',
  labels: '',
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

/** Starts a service whose database a test can block and unblock. */
async function appWithDatabase(
  t: TestContext,
  env: Record<string, string> = {},
  options: { worker?: boolean } = {},
) {
  const proxies: TcpProxy[] = []
  const app = await testApp(t, {
    ...options,
    env,
    databaseThrough: async (url) => {
      const proxy = await tcpProxy(t, `${url}&statement_timeout=500`)
      proxies.push(proxy)
      return proxy.url
    },
  })
  const [proxy] = proxies
  const pragma = (state: string) => sql.raw(`pragma query_only = ${state}`).execute(app.platform.db)
  return {
    app,
    proxy,
    spool: join(app.dataDir, 'usage-spool.jsonl'),
    refuse: () => (proxy ? proxy.close() : pragma('on')),
    accept: () => (proxy ? proxy.open() : pragma('off')),
  }
}

const recordsOf = (app: TestApp) =>
  app.platform.db.selectFrom('usage_records').select(['user_id', 'prompt_tokens']).execute()

test('calls that the database rejects are recorded exactly once, with their budget, when it accepts them', async (t) => {
  const { app, spool, refuse, accept } = await appWithDatabase(
    t,
    { BUDGET_PRO_TOKENS: '1000' },
    { worker: !ON_POSTGRES },
  )
  const { ledger } = app.service.usage
  const call = {
    userId: 'ada',
    keyId: null,
    tier: 'pro',
    slices: null,
    promptTokens: 10,
    completionTokens: 90,
    promptNanos: 0,
    tokenNanos: 0,
  }
  const reservations = [await ledger.reserve(call), await ledger.reserve(call)]

  await refuse()
  for (const reservation of reservations) await ledger.settle(reservation, recordOf(app, 'ada', 40))
  const lines = readSpool(app.dataDir)
  assert.equal(lines.length, 2, 'the records are in a file before the caller sees the end')
  await assert.rejects(
    ledger.reserve(call),
    (error) => databaseFailure(error) !== null,
    'nothing is begun meanwhile',
  )
  await accept()

  while ((await recordsOf(app)).length < 2) await new Promise((resolve) => setTimeout(resolve, 50))
  const budget = () =>
    app.platform.db
      .selectFrom('usage_budgets')
      .select(['used_tokens', 'reserved_tokens'])
      .executeTakeFirstOrThrow()
  assert.deepEqual({ ...(await budget()) }, { used_tokens: 80, reserved_tokens: 0 })
  while (existsSync(spool)) await new Promise((resolve) => setTimeout(resolve, 50))
  // Exactly the rest fits: the reservations of the two calls were released once.
  const whole = { ...call, completionTokens: 910 }
  let rest = await ledger.reserve(whole).catch(() => null)
  for (; rest === null; rest = await ledger.reserve(whole).catch(() => null)) await wait(50)
  await ledger.release(rest)
  const beyond = { ...call, completionTokens: 911, isTrial: true }
  await assert.rejects(ledger.reserve(beyond), { code: 'token_budget_exhausted' })
  rest = await ledger.reserve(whole)
  await assert.rejects(ledger.reserve({ ...call, isTrial: true }), {
    code: 'token_budget_exhausted',
  })
  await ledger.release(rest)

  // Restores the file as if the process had died between the commit and the file's removal.
  writeFileSync(spool, `${lines.join('\n')}\n`)
  await app.restart()
  assert.equal((await recordsOf(app)).length, 2)
  assert.equal((await budget()).used_tokens, 80)
  assert.equal(existsSync(spool), false)
})

test('releases the reservation of a call that was not made, and of one whose record cannot be written', async (t) => {
  const { app, refuse, accept } = await appWithDatabase(t, { BUDGET_PRO_TOKENS: '1000' })
  const { ledger } = app.service.usage
  const call = {
    userId: 'ada',
    keyId: null,
    tier: 'pro',
    slices: null,
    promptTokens: 10,
    completionTokens: 890,
    promptNanos: 0,
    tokenNanos: 0,
    isTrial: true,
  }
  const reserve = async () => {
    for (let tries = 0; tries < 200; tries++) {
      const reservation = await ledger.reserve(call).catch(() => null)
      if (reservation !== null) return reservation
      await wait(50)
    }
    throw new Error('the reservation was never released')
  }
  const unused = await reserve()
  await refuse()
  await ledger.release(unused)
  assert.equal(ledgerIsBehind(app.dataDir), true)
  await accept()

  const reservation = await reserve()
  await refuse()
  await ledger.settle(reservation, { ...recordOf(app, 'ada', 40), route: null as never })
  await accept()
  await ledger.release(await reserve())
  assert.equal((await recordsOf(app)).length, 0)
})

test('the next process records the calls that this one could not', async (t) => {
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

test('skips a half-written line and an entry that cannot be written, and writes the others', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-spool-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const written: number[] = []
  const spool = new Spool<{ n: number }>({
    dataDir,
    log,
    write: async (entries) => {
      if (entries.some(({ n }) => n === 3)) throw new Error('no such user')
      written.push(...entries.map(({ n }) => n))
    },
  })
  writeFileSync(join(dataDir, 'usage-spool.jsonl'), '{"n":1}\n{"n":')
  for (const n of [2, 3, 4]) await spool.add({ n })
  await spool.start()
  await spool.stop()

  assert.deepEqual(written, [1, 2, 4])
  assert.equal(lines.length, 2, lines.join(''))
})

const createLines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

/** Rejects long before the timeout of a database that hangs. */
const atOnce = <T>(work: Promise<T>) =>
  Promise.race([work.then(() => true), wait(2_000, false, { ref: false })])

const isSpooling = async (app: TestApp) =>
  /^latchkey_usage_spooling 1$/m.test((await app.get('/metrics')).text)

test('while the database hangs, only one call’s end waits for it', {
  skip: !ON_POSTGRES && 'an embedded database does not stand still',
}, async (t) => {
  const { app, proxy } = await appWithDatabase(t)
  const { ledger } = app.service.usage
  proxy?.freeze()
  await ledger.settle(null, recordOf(app, 'ada', 20))
  const queries: Promise<boolean>[] = []
  // Waits longer than the time between two replays; the database answers neither.
  for (let index = 0; index < 8; index++) {
    // Ends before any later wait for the database, however slow this machine is.
    const query = recordsOf(app).then(
      () => false,
      () => false,
    )
    queries.push(query)
    const settled = ledger.settle(null, recordOf(app, 'ada', 20)).then(() => true)
    assert.ok(await Promise.race([settled, query]), `the end of call ${index} waits`)
    await wait(600)
  }
  assert.ok(ledgerIsBehind(app.dataDir))

  proxy?.thaw()
  await Promise.all(queries)
  await untilRecords(app, 9)
  while ((await isSpooling(app)) || ledgerIsBehind(app.dataDir)) await wait(50)
  // A slow machine may exceed the statement's limit again, but not every time.
  for (let count = 10; ; count++) {
    await ledger.settle(null, recordOf(app, 'eve', 20))
    const isStored = !ledgerIsBehind(app.dataDir)
    await untilRecords(app, count)
    if (isStored) break
    assert.ok(count < 20, 'no new record goes to the database')
  }
})

/** A slow machine may exceed the limit of the statement that reads. */
async function untilRecords(app: TestApp, count: number): Promise<void> {
  let records: unknown[] = []
  while (records.length < count) {
    await wait(50)
    records = await recordsOf(app).catch(() => [])
  }
  assert.equal(records.length, count)
}

/** A replay renames the file while it runs. */
const readSpool = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.startsWith('usage-spool'))
    .flatMap((name) => createLines(join(dataDir, name)))

const ledgerIsBehind = (dataDir: string) =>
  readdirSync(dataDir).some((name) => name.startsWith('usage-spool'))

test('neither a call nor the process waits at its end for a replay that hangs', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-spool-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const log = pino({ level: 'silent' })
  let writes = 0
  let giveUp = () => {}
  const spool = new Spool<{ n: number }>({
    dataDir,
    log,
    write: () => {
      writes++
      return new Promise((_, reject) => {
        giveUp = () => reject(new DatabaseUnreachable('gone'))
      })
    },
  })
  await spool.start()
  await spool.add({ n: 1 })
  while (writes === 0) await wait(50)
  for (const n of [2, 3]) assert.ok(await atOnce(spool.add({ n })), `${n} waits`)
  assert.equal(spool.isFailing, true)
  giveUp()
  while (writes === 1) await wait(50)

  const stopped = await Promise.race([
    spool.stop().then(() => true),
    wait(20_000, false, { ref: false }),
  ])
  assert.equal(stopped, true, 'the process never ends')
  giveUp()

  // The next process finds all three records.
  const found: number[] = []
  const next = new Spool<{ n: number }>({
    dataDir,
    log,
    write: async (entries) => void found.push(...entries.map(({ n }) => n)),
  })
  await next.start()
  await next.stop()
  assert.deepEqual(found.sort(), [1, 2, 3])
  assert.equal(ledgerIsBehind(dataDir), false)
})

test('a replay that a closing database rejects loses no record', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-spool-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  let refuse = () => {}
  const spool = new Spool<{ n: number }>({
    dataDir,
    log: pino({ level: 'silent' }),
    write: () =>
      new Promise((_, reject) => {
        refuse = () => reject(new Error('driver has already been destroyed'))
      }),
  })
  await spool.start()
  await spool.add({ n: 1 })
  await spool.stop()
  refuse()
  await wait(100)
  assert.deepEqual(
    readdirSync(dataDir).flatMap((name) => createLines(join(dataDir, name))),
    ['{"n":1}'],
  )
})

test('a note is written once even if the reply to its insert was lost', async (t) => {
  const { platform } = await testApp(t)
  let inserts = 0
  const { adapter } = platform.db.getExecutor()
  const { commitAsync } = adapter as unknown as AsyncCommit
  const losing: AsyncCommit = {
    async commitAsync<T>(work: (run: Run) => Promise<T>) {
      const result = await commitAsync.call(adapter, work)
      if (++inserts === 1) throw new DatabaseUnreachable('gone')
      return result as T
    },
  }
  const db = Object.create(platform.db, {
    getExecutor: { value: () => ({ adapter: losing }) },
    insertInto: { value: platform.db.insertInto.bind(platform.db) },
    isTransaction: { value: false },
  }) as typeof platform.db
  const openCalls = new OpenCalls({ ...platform, db }, 'node')
  t.after(() => openCalls.stop())
  openCalls.start()
  const call = {
    userId: 'ada',
    keyId: null,
    route: '/test',
    vendor: 'openai',
    model: 'gpt-6-luna',
    tier: 'pro',
    requestId: null,
    endUser: '',
    labels: '',
    startedAt: platform.clock.now(),
    plan: { name: '2026-11-01/month', end: '2026-12-01T00:00:00.000Z', nanos: null },
  }
  const handle = openCalls.open({ ...call, id: 'call-1', promptTokens: 10, costUsd: 0.000_001 })
  while (inserts < 2) await wait(50)

  const notes = await platform.db.selectFrom('usage_open_calls').select('id').execute()
  assert.deepEqual(
    notes.map(({ id }) => id),
    ['call-1'],
  )
  assert.notEqual(openCalls.close(handle), null)
})
