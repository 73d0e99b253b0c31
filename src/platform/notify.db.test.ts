import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { freshDatabaseUrl } from '#testing/database.ts'
import { type Bus, createBus } from './bus.ts'
import { openDatabase } from './db/open.ts'
import { notifyCarrier } from './notify.ts'

const skip = !process.env.TEST_DATABASE_URL && 'needs a PostgreSQL server with connections to spare'
const TIMES = { echoMs: 4_000, askMs: 100, deafMs: 50, againMs: 20 }

/** A node on a database, whose listening connection may go another way. */
async function node(
  t: TestContext,
  url: string,
  { listenAt = url, times = TIMES, isGuest = false } = {},
) {
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  const { db, close } = openDatabase({ databaseUrl: url, dataDir: '' })
  const bus = createBus(notifyCarrier({ db, url: listenAt, log, times }, { isGuest }))
  const heard: unknown[] = []
  let gaps = 0
  bus.on('test', (payload) => heard.push(payload))
  bus.onGap(() => gaps++)
  t.after(async () => {
    await bus.close()
    await close()
  })
  return { bus, db, heard, warnings, gaps: () => gaps }
}

async function freshUrl(t: TestContext): Promise<string> {
  const { url, drop } = await freshDatabaseUrl()
  t.after(drop)
  return url ?? ''
}

const until = async (what: () => boolean) => {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 5))
}
const isHeard = (bus: Bus) => until(() => bus.carriedBy() === 'postgres')

test('nodes without Redis hear each other over PostgreSQL, and those of another schema do not', {
  skip,
}, async (t) => {
  const url = await freshUrl(t)
  const [one, two, stranger] = await Promise.all([
    node(t, url),
    node(t, url),
    freshUrl(t).then((other) => node(t, other)),
  ])
  await Promise.all([one, two, stranger].map(({ bus }) => isHeard(bus)))

  for (let n = 0; n < 50; n++) one.bus.publish('test', { n })
  await until(() => two.heard.length === 50)
  assert.deepEqual(two.heard, one.heard, 'in order, and here at once')
  const command = await node(t, url, { isGuest: true })
  command.bus.publish('test', 'from a command')
  await until(() => two.heard.length === 51)
  assert.deepEqual(command.bus.carriedBy(), null)
  assert.deepEqual(stranger.heard, [])

  one.bus.publish('test', 'x'.repeat(9_000))
  await until(() => two.gaps() === 1)
  one.bus.publish('test', 'after it')
  await until(() => two.heard.length === 52)
  assert.equal(two.heard.at(-1), 'after it', 'what is too long for a message is told as a gap')
  // Messages of other clients of the server are ignored and stop nothing.
  for (const text of ['', '{', 'null', '{"topic":7}']) {
    await sql`select pg_notify('latchkey_' || md5(current_schema()), ${text})`.execute(one.db)
  }
  await until(() => two.gaps() === 5)
})

test('a node that loses its listening connection reconnects and drops its caches', {
  skip,
}, async (t) => {
  const url = await freshUrl(t)
  const [one, two] = await Promise.all([node(t, url), node(t, url)])
  await Promise.all([isHeard(one.bus), isHeard(two.bus)])
  for (let round = 1; round <= 3; round++) {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'latchkey bus'`.execute(
      one.db,
    )
    await until(() => two.gaps() === round && two.bus.carriedBy() === 'postgres')
    one.bus.publish('test', round)
    await until(() => two.heard.length === round)
  }
})

test('with a proxy that delivers no notifications, a node logs it and continues without them', {
  skip,
}, async (t) => {
  const url = await freshUrl(t)
  const listenAt = await withoutNotifications(t, url)
  const { bus, warnings } = await node(t, url, { listenAt, times: { ...TIMES, echoMs: 100 } })
  await until(() => warnings.length > 0)
  assert.match(warnings.join(), /LISTEN brings nothing: is PgBouncer between/)
  assert.equal(bus.carriedBy(), null)
  bus.publish('test', 'all the same')
})

/** As PgBouncer in transaction mode: every message of the server but 'A', NotificationResponse. */
async function withoutNotifications(t: TestContext, url: string): Promise<string> {
  const target = new URL(url)
  const [host, port] = [target.hostname, Number(target.port || 5432)]
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(port, host)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => other.destroy())
    }
    client.pipe(server)
    let rest: Buffer = Buffer.alloc(0)
    server.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 5) {
        const length = 1 + rest.readUInt32BE(1)
        if (rest.length < length) return
        if (rest[0] !== 'A'.charCodeAt(0)) client.write(rest.subarray(0, length))
        rest = rest.subarray(length)
      }
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  target.hostname = '127.0.0.1'
  target.port = String((proxy.address() as { port: number }).port)
  return target.href
}
