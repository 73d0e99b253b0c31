import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Selectable, SqliteQueryCompiler } from 'kysely'
import { run as audit } from '#cli/audit.ts'
import { plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { removeAged } from '#platform/retention.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { type AuditEvent, recordAudit as record, verifyAudit } from './audit.ts'
import { pageOfAudit } from './entries.ts'
import { createLinking, linkEntries, linkSlice } from './linking.ts'
import { CHAINS } from './migrations.ts'
import { agedAudit } from './retention.ts'

/** Of any action: the chains do not depend on it. */
const recordAudit = record as (
  tx: Db,
  event: Omit<AuditEvent, 'action'> & { action: string },
) => Promise<void>

type Entry = Selectable<Tables['audit_log']>
type Head = Selectable<Tables['audit_heads']>

const DAY_MS = 86_400_000
/** Nothing is linked but by the test. */
const NO_WORKER = { SERVE: 'api,storefront' }
const CHAIN_NUMBERS = Array.from({ length: CHAINS }, (_, chain) => chain)

test('every change to the log is detected: edits, reordering, holes, moves to another chain, a rebuilt chain', async (t) => {
  const app = await testApp(t, { env: NO_WORKER })
  const { db, clock } = app.platform
  const [chain, other] = await twoChains(app)
  assert.equal((await verifyAudit(db)).intact, true)
  const entries = await entriesOf(db, chain)
  const [first, second, third] = entries as [Entry, Entry, Entry]
  const head = await headOf(db, chain)

  const write = (row: Entry) => db.insertInto('audit_log').values(row).execute()
  const drop = (row: Entry) =>
    db
      .deleteFrom('audit_log')
      .where('chain', '=', row.chain)
      .where('position', '=', row.position)
      .execute()
  const change = (row: Entry, changes: Partial<Entry>) =>
    db
      .updateTable('audit_log')
      .set(changes)
      .where('chain', '=', row.chain)
      .where('position', '=', row.position)
      .execute()
  const setHead = (changes: Partial<Head>) =>
    db.updateTable('audit_heads').set(changes).where('chain', '=', chain).execute()

  /** The marks of what stays are whole: it is the links that want a key. */
  const closeHole = async (hashOf: (content: unknown[]) => string) => {
    await drop(second)
    let previous = first.hash as string
    for (const entry of entries.slice(2)) {
      const position = (entry.position as number) - 1
      const hash = hashOf(['link', chain, previous, position, entry.mark])
      await change(entry, { position, hash })
      previous = hash
    }
    await setHead({ position: entries.length - 1, hash: previous })
  }

  const attacks: Record<string, () => Promise<unknown>> = {
    'a hole that was closed without a key': () =>
      closeHole((content) =>
        createHash('sha256').update(JSON.stringify(content)).digest('base64url'),
      ),
    'a hole that was closed with a key of one’s own': () =>
      closeHole((content) =>
        createHmac('sha256', Buffer.alloc(32)).update(JSON.stringify(content)).digest('base64url'),
      ),
    'another action': () => change(second, { action: 'nothing' }),
    'another actor': () => change(second, { actor: 'p_other' }),
    'another time': () => change(second, { at: '2020-01-01T00:00:00.000Z' }),
    'other details': () => change(second, { details: '{"method":"passkey"}' }),
    'no details': () => change(second, { details: null, salt: null }),
    'another hash': () => change(second, { hash: 'x' }),
    'another mark': () => change(second, { mark: first.mark }),
    'an entry unlinked': () => change(second, { position: null, hash: null }),
    'the last entry unlinked': () =>
      change(entries.at(-1) as Entry, { position: null, hash: null }),
    'an entry that nobody wrote, not linked yet': () =>
      write({ ...first, id: 'forged', position: null, hash: null, action: 'forged' }),
    'an entry of a chain that is none, not linked yet': () =>
      write({ ...first, chain: 99, id: 'forged', position: null, hash: null }),
    'a hole': () => drop(second),
    'a first entry less': () => drop(first),
    'an end less': () => drop(entries.at(-1) as Entry),
    'two in the other order': async () => {
      await drop(second)
      await change(third, { position: second.position })
      await write({ ...second, position: third.position })
    },
    'an entry of another chain in its place': async () => {
      const [foreign] = (await entriesOf(db, other)) as [Entry]
      await drop(first)
      await write({ ...(foreign as Entry), chain, id: first.id, position: 1 })
    },
    'a beginning that nobody sealed': async () => {
      await drop(first)
      await setHead({
        start: 1,
        start_hash: first.hash as string,
        start_seal: first.hash as string,
      })
    },
    'no head': () => db.deleteFrom('audit_heads').where('chain', '=', chain).execute(),
    'a chain that is none': () => write({ ...first, chain: 999 }),
    'a chain below all': () => write({ ...first, chain: -1 }),
    'an entry before the first': () =>
      write({ ...first, id: 'forged', position: 0, action: 'forged' }),
    'an entry after a gap behind the last': () =>
      write({ ...first, id: 'forged', position: 1_000, action: 'forged' }),
    'a chain made anew without its key': async () => {
      let previous = ''
      const hashOf = (...content: unknown[]) =>
        createHash('sha256').update(JSON.stringify(content)).digest('base64url')
      for (const { chain, id, position, at, actor, subject, commitment, action: was } of entries) {
        const action = position === 1 ? 'nothing' : was
        const mark = hashOf('entry', chain, id, at, actor, action, subject, commitment)
        const hash = hashOf('link', chain, previous, position, mark)
        await change({ chain, position } as Entry, { action, mark, hash })
        previous = hash
      }
      await setHead({ hash: previous })
    },
  }
  for (const [what, attack] of Object.entries(attacks)) {
    await attack()
    assert.equal((await verifyAudit(db)).intact, false, what)
    await db
      .deleteFrom('audit_log')
      .where((e) => e.or([e('chain', '=', chain), e('chain', 'not in', CHAIN_NUMBERS)]))
      .execute()
    await db.insertInto('audit_log').values(entries).execute()
    await db.deleteFrom('audit_heads').where('chain', '=', chain).execute()
    await db.insertInto('audit_heads').values(head).execute()
    assert.equal((await verifyAudit(db)).intact, true, `${what}, undone`)
  }

  // Cut off with care, an end is missed only by who has noted how far the chains reached.
  const note = join(app.dataDir, 'heads')
  assert.equal((await verify(app, note)).code, 0)
  const last = entries.at(-1) as Entry
  await drop(last)
  const before = entries.at(-2) as Entry
  await setHead({ position: before.position as number, hash: before.hash as string })
  assert.equal((await verify(app)).code, 0)
  const missed = await verify(app, note)
  assert.deepEqual(
    [missed.code, /broken at entry \d+:\d+: entries after it were cut off/.test(missed.text)],
    [1, true],
  )
  await transaction(db, (tx) =>
    recordAudit(tx, { actorId: null, action: 'more', subject: 'thing:1', at: clock.now() }),
  )
  await linkEntries(db)
  assert.ok(
    readFileSync(note, 'utf8').includes(last.hash as string),
    'a note is not renewed by a broken log',
  )
  writeFileSync(note, 'something else')
  assert.equal((await verify(app, note)).code, 2)
})

describe('an entry that is not linked yet', () => {
  test('is verified by its mark, logged, and linked once, even when several processes link at the same time', async (t) => {
    const app = await testApp(t, { env: NO_WORKER })
    const { db, clock } = app.platform
    await linkEntries(db)
    const before = await verifyAudit(db)
    assert.ok(before.intact)
    const record = (action: string) =>
      transaction(db, (tx) =>
        recordAudit(tx, { actorId: null, action, subject: `thing:${action}`, at: clock.now() }),
      )
    // More than one slice, in many chains.
    const COUNT = 40
    for (let count = 0; count < COUNT; count++) await record(`made-${count}`)
    const note = join(app.dataDir, 'heads')
    const told = await verify(app, note)
    assert.equal(told.code, 0)
    assert.match(told.text, new RegExp(`${COUNT} more entries, since .* are not linked yet`))

    await Promise.all([linkAll(db, 7), linkAll(db, 7), linkAll(db, 7)])
    await linkEntries(db)

    const after = await verifyAudit(db, before.heads)
    assert.ok(after.intact)
    assert.deepEqual(after.unlinked, { entries: 0, since: null })
    assert.equal(after.entries, before.entries + before.unlinked.entries + COUNT)
    assert.equal((await verify(app, note)).code, 0)
  })

  test('is never linked where it was forged or changed, and keeps no other from it', async (t) => {
    const app = await testApp(t, { env: NO_WORKER })
    const { db, clock } = app.platform
    const record = (action: string) =>
      transaction(db, (tx) =>
        recordAudit(tx, { actorId: null, action, subject: 'thing:1', at: clock.now() }),
      )
    await record('changed')
    await db
      .updateTable('audit_log')
      .set({ action: 'nothing' })
      .where('action', '=', 'changed')
      .execute()
    await record('after it')

    assert.deepEqual(await linkEntries(db), { forged: 1, setBack: 0 })

    const rows = await db
      .selectFrom('audit_log')
      .select(['action', 'position'])
      .where('subject', '=', 'thing:1')
      .execute()
    const linked = new Map(rows.map(({ action, position }) => [action, position !== null]))
    assert.deepEqual([linked.get('nothing'), linked.get('after it')], [false, true])
    const verdict = await verifyAudit(db)
    assert.deepEqual(
      [verdict.intact, !verdict.intact && verdict.reason],
      [false, 'its content was changed'],
    )
  })

  test('is not linked behind a head that was set back, from which an entry was taken away', async (t) => {
    const app = await testApp(t, { env: NO_WORKER })
    const { db, clock } = app.platform
    for (let i = 0; i < 8; i++) {
      const event = { actorId: null, action: `a${i}`, subject: 'thing:1', at: clock.now() }
      await transaction(db, (tx) => recordAudit(tx, event))
    }
    await linkEntries(db)
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('subject', '=', 'thing:1')
      .orderBy('position')
      .execute()
    const [before, victim] = rows.slice(2) as [Entry, Entry]
    // With the database alone, and no key.
    const { chain } = victim
    await db.deleteFrom('audit_log').where('id', '=', victim.id).execute()
    const later = db
      .updateTable('audit_log')
      .set({ position: null, hash: null })
      .where('chain', '=', chain)
    await later.where('position', '>', victim.position).execute()
    const { position, hash } = before
    await db
      .updateTable('audit_heads')
      .set({ position: position ?? 0, hash: hash ?? '' })
      .where('chain', '=', chain)
      .execute()

    assert.deepEqual(await linkEntries(db), { forged: 0, setBack: 1 })
    const verdict = await verifyAudit(db)
    assert.ok(verdict.intact && verdict.unlinked.entries === 4, 'none is signed anew')
  })

  test('is linked by the same statements for any number of entries, because the server stores each one’s plan', async (t) => {
    const app = await testApp(t, { env: NO_WORKER })
    const { db, clock } = app.platform
    const statements = new Set<string>()
    const compiler = new SqliteQueryCompiler()
    const listened = db.withPlugin({
      transformQuery({ node, queryId }) {
        statements.add(compiler.compileQuery(node, queryId).sql)
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const numbers: number[] = []
    for (const count of [1, 2, 30]) {
      for (let n = 0; n < count; n++)
        await transaction(db, (tx) =>
          recordAudit(tx, { actorId: null, action: `done-${n}`, at: clock.now() }),
        )
      await linkEntries(listened)
      numbers.push(statements.size)
    }
    const verdict = await verifyAudit(db)
    assert.ok(verdict.intact && verdict.unlinked.entries === 0)
    assert.deepEqual(numbers, [numbers[0], numbers[0], numbers[0]])
  })

  test('is linked before the service ends', async (t) => {
    const app = await testApp(t, { env: NO_WORKER })
    const { db, clock } = app.platform
    const linking = createLinking(app.platform)
    linking.start()
    await transaction(db, (tx) =>
      recordAudit(tx, { actorId: null, action: 'last', at: clock.now() }),
    )
    await linking.close()
    const verdict = await verifyAudit(db)
    assert.ok(verdict.intact && verdict.unlinked.entries === 0)
  })
})

async function linkAll(db: Db, limit: number): Promise<void> {
  let after: { at: string; id: string } | undefined
  for (;;) {
    const { seen, last } = await linkSlice(db, after, limit)
    if (seen < limit) return
    after = last
  }
}

describe('old entries', () => {
  test('go from the beginning of their chain, and what stays is whole', async (t) => {
    const app = await testApp(t, { env: { RETENTION_DAYS: 'audit=30' } })
    const { db, clock } = app.platform
    const [chain] = await twoChains(app)
    const before = await verifyAudit(db)
    const note = join(app.dataDir, 'heads')
    await verify(app, note)
    app.clock.advance(40 * DAY_MS)
    await app.post('/api/auth/login', { email: 'ada@example.com', password: 'wrong' })
    const at = plus(clock.now(), 0)
    for (let count = 0; count < 3; count++) {
      await transaction(db, (tx) =>
        recordAudit(tx, { actorId: null, action: 'late', subject: 'thing:1', at }),
      )
    }

    await linkEntries(db)

    await removeAged({ db, clock }, agedAudit(app.config))

    const after = await verifyAudit(db)
    assert.ok(before.intact && after.intact)
    const left = await db
      .selectFrom('audit_log')
      .select('action')
      .where('action', '=', 'late')
      .execute()
    assert.equal(left.length, 3)
    assert.equal(
      (await entriesOf(db, chain)).filter((entry) => entry.at < plus(at, -30 * DAY_MS)).length,
      0,
    )
    assert.ok(after.entries < before.entries)
    assert.equal((await verify(app, note)).code, 0, 'a note of before still holds')

    // Without the key nobody can cut more.
    const [head] = await db.selectFrom('audit_heads').selectAll().where('start', '>', 0).execute()
    await db
      .updateTable('audit_heads')
      .set({ start: 0, start_hash: '', start_seal: '' })
      .where('chain', '=', head!.chain)
      .execute()
    assert.equal((await verifyAudit(db)).intact, false)
  })

  test('go from all chains in one run, but from none that was changed: it is not signed for', async (t) => {
    const app = await testApp(t, { env: { RETENTION_DAYS: 'audit=30' } })
    const { db, clock } = app.platform
    const [chain, falseStart] = await twoChains(app)
    const record = (subject: string, action: string) =>
      transaction(db, (tx) => recordAudit(tx, { actorId: null, action, subject, at: clock.now() }))
    for (let count = 0; count < 40; count++) await record(`other:${count}`, 'made')
    await linkEntries(db)
    const cut = () => removeAged({ db, clock }, agedAudit(app.config))
    const noted = await verifyAudit(db)
    assert.ok(noted.intact)

    // Young entries are made old, for retention to remove what they tell.
    const entries = await entriesOf(db, chain)
    const date = (at: Entry['at']) =>
      db
        .updateTable('audit_log')
        .set({ at })
        .where('chain', '=', chain)
        .where('position', '<=', 3)
        .execute()
    await date('2020-01-01T00:00:00.000Z')
    await assert.rejects(cut(), (error: Error) =>
      error.message.includes(`${chain}:1 (its content was changed)`),
    )
    assert.equal((await entriesOf(db, chain)).length, entries.length)
    const seen = await verifyAudit(db, noted.heads)
    assert.deepEqual([seen.intact, !seen.intact && seen.chain], [false, chain])

    // A beginning that nobody sealed is not sealed by the next cut; the other chains go on.
    const [first] = (await entriesOf(db, falseStart)) as [Entry]
    await db
      .deleteFrom('audit_log')
      .where('chain', '=', falseStart)
      .where('position', '=', 1)
      .execute()
    await db
      .updateTable('audit_heads')
      .set({ start: 1, start_hash: first.hash as string, start_seal: first.hash as string })
      .where('chain', '=', falseStart)
      .execute()
    app.clock.advance(40 * DAY_MS)
    await assert.rejects(cut(), /not cut there/)
    const left = await db
      .selectFrom('audit_log')
      .select('chain')
      .distinct()
      .orderBy('chain')
      .execute()
    assert.deepEqual(
      left.map((row) => row.chain),
      [chain, falseStart].sort((a, b) => a - b),
    )
    assert.equal((await headOf(db, falseStart)).start, 1)
  })

  test('pages by cursor are those by number, of everybody and of a person', async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada')
    const eve = await app.as('eve')
    const { db, clock } = app.platform
    for (let count = 0; count < 5; count++) {
      const about = {
        actorId: ada.userId,
        action: 'test',
        subject: `user:${eve.userId}`,
        at: clock.now(),
      }
      await transaction(db, (tx) => recordAudit(tx, about))
      app.clock.advance(count % 2)
    }
    for (const userId of [undefined, ada.userId, eve.userId]) {
      const whole = await pageOfAudit(db, { userId, page: 1, limit: 100 })
      assert.ok(whole.entries.length >= 7)
      assert.equal(whole.total, whole.entries.length)
      const names = whole.entries.map(({ id }) => id)
      assert.equal(new Set(names).size, names.length)
      const byNumber: string[] = []
      const byCursor: string[] = []
      let cursor: string | null | undefined
      for (let page = 1; page <= Math.ceil(names.length / 2); page++) {
        const numbered = await pageOfAudit(db, { userId, page, limit: 2 })
        byNumber.push(...numbered.entries.map(({ id }) => id))
        const next = await pageOfAudit(db, {
          userId,
          page: 1,
          limit: 2,
          ...(cursor ? { cursor } : {}),
        })
        byCursor.push(...next.entries.map(({ id }) => id))
        cursor = next.next_cursor
      }
      assert.deepEqual(byNumber, names)
      assert.deepEqual(byCursor, names)
    }
    for (const cursor of ['', 'x', Buffer.from(`${clock.now()} nothing`).toString('base64url')]) {
      await assert.rejects(pageOfAudit(db, { page: 1, limit: 2, cursor }), { status: 422 }, cursor)
    }
  })
})

/** Of two chains with at least four entries each. */
async function twoChains(app: TestApp): Promise<[number, number]> {
  const { db, clock } = app.platform
  const found = new Set<number>()
  for (let index = 0; found.size < 2; index++) {
    for (let count = 0; count < 4; count++) {
      await transaction(db, (tx) =>
        recordAudit(tx, {
          actorId: null,
          action: 'made',
          subject: `thing:${index}`,
          data: { count },
          at: clock.now(),
        }),
      )
    }
    await linkEntries(db)
    const rows = await db
      .selectFrom('audit_heads')
      .select('chain')
      .where('position', '>=', 4)
      .execute()
    for (const { chain } of rows) found.add(chain)
  }
  return [...found] as [number, number]
}

const entriesOf = (db: Db, chain: number): Promise<Entry[]> =>
  db.selectFrom('audit_log').selectAll().where('chain', '=', chain).orderBy('position').execute()
const headOf = (db: Db, chain: number): Promise<Head> =>
  db.selectFrom('audit_heads').selectAll().where('chain', '=', chain).executeTakeFirstOrThrow()

async function verify(app: TestApp, ...args: string[]) {
  const lines: string[] = []
  const code = await audit(['verify', ...args], {
    config: app.config,
    platform: async () => app.platform,
    print: (line = '') => void lines.push(line),
  })
  return { code, text: lines.join('\n') }
}
