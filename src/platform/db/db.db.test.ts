import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CompiledQuery, sql } from 'kysely'
import { migrations } from '#app/migrations.ts'
import { testApp } from '#testing/app.ts'
import { commitAsync } from './async-commit.ts'
import { afterCommit, transaction } from './db.ts'
import { migrate, planMigrations, requireMigrated } from './migrate.ts'

const table = `create table shapes (id {id} primary key, is_round {boolean} not null, size {bigint}, seen_at {timestamp}, facts_json {json}, bytes {bytes}, weight {real});`

test('values look the same on both engines', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  const known = (
    await sql<{ id: string }>`select id from migrations order by position`.execute(db)
  ).rows.map((row) => row.id)
  assert.ok(known.includes('platform/001-jobs'))
  await transaction(db, async (tx) => {
    const statement =
      platform.dialect === 'sqlite'
        ? table.replace(
            /\{(\w+)\}/g,
            (_, name) =>
              ({
                id: 'text',
                boolean: 'integer',
                bigint: 'integer',
                timestamp: 'text',
                json: 'text',
                bytes: 'blob',
                real: 'real',
              })[name as 'id'] ?? '',
          )
        : table.replace(
            /\{(\w+)\}/g,
            (_, name) =>
              ({
                id: 'text',
                boolean: 'boolean',
                bigint: 'bigint',
                timestamp: 'timestamptz',
                json: 'jsonb',
                bytes: 'bytea',
                real: 'double precision',
              })[name as 'id'] ?? '',
          )
    await sql.raw(statement).execute(tx)
  })
  const row = {
    id: 'a',
    is_round: true,
    size: 2 ** 40,
    seen_at: '2026-11-20T09:30:00.123Z',
    facts_json: { tags: ['x', "it's"], deep: { n: 1 } },
    bytes: new Uint8Array([0, 255, 7]),
    weight: 0.1,
  }
  const shapes = db as unknown as import('kysely').Kysely<{ shapes: typeof row }>
  await shapes.insertInto('shapes').values(row).execute()
  const found = await shapes
    .selectFrom('shapes')
    .selectAll()
    .where('is_round', '=', true)
    .where('seen_at', '<=', row.seen_at)
    .executeTakeFirstOrThrow()
  assert.deepEqual({ ...found, bytes: [...found.bytes] }, { ...row, bytes: [...row.bytes] })

  await shapes
    .insertInto('shapes')
    .values({ ...row, id: 'b', facts_json: [1, 2] as never })
    .execute()
  const list = await shapes
    .selectFrom('shapes')
    .select('facts_json')
    .where('id', '=', 'b')
    .executeTakeFirstOrThrow()
  assert.deepEqual(list.facts_json, [1, 2])
  const { count } = await shapes
    .selectFrom('shapes')
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(count, 2)
})

test('a transaction that throws changes nothing and calls no callbacks', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  const called: string[] = []
  await assert.rejects(
    transaction(db, async (tx) => {
      await tx
        .insertInto('secrets')
        .values({ name: 'x', value: new Uint8Array([1]), created_at: platform.clock.now() })
        .execute()
      afterCommit(tx, () => called.push('lost'))
      throw new Error('no')
    }),
    /no/,
  )
  await transaction(db, async (tx) => afterCommit(tx, () => called.push('kept')))
  assert.deepEqual(called, ['kept'])
  assert.equal(
    await db.selectFrom('secrets').select('name').where('name', '=', 'x').executeTakeFirst(),
    undefined,
  )
})

test('an asynchronous commit is read at once, in whole or not at all, and in its turn', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  const secret = (name: string, value: number) =>
    db
      .insertInto('secrets')
      .values({ name, value: new Uint8Array([value]), created_at: platform.clock.now() })
      .compile()
  const commit = (...queries: CompiledQuery[]) =>
    commitAsync(db, async (run) => {
      for (const query of queries) await run(query)
      return queries.length
    })
  const names = async () =>
    (
      await db
        .selectFrom('secrets')
        .select('name')
        .where('name', 'like', 'async-%')
        .orderBy('name')
        .execute()
    ).map(({ name }) => name)

  assert.equal(await commit(secret('async-a', 1), secret('async-b', 2)), 2)
  assert.deepEqual(await names(), ['async-a', 'async-b'])
  await assert.rejects(commit(secret('async-c', 3), secret('async-a', 4)))
  assert.deepEqual(await names(), ['async-a', 'async-b'], 'a failure leaves nothing')

  const during = transaction(db, async (tx) => {
    await tx.deleteFrom('secrets').where('name', 'like', 'async-%').execute()
    // Begun while the transaction runs: on SQLite it waits for it.
    const later = commit(secret('async-d', 5))
    later.catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    return { later }
  })
  await (await during).later
  assert.deepEqual(await names(), ['async-d'])
  await assert.rejects(
    transaction(db, async (tx) => commitAsync(tx, async () => {})),
    /inside another/,
  )
})

test('transactions do not see each other half-way', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  await db
    .insertInto('secrets')
    .values({ name: 'n', value: new Uint8Array([0]), created_at: platform.clock.now() })
    .execute()
  await Promise.all(
    Array.from({ length: 20 }, () =>
      transaction(db, async (tx) => {
        const lock = tx.selectFrom('secrets').select('value').where('name', '=', 'n')
        const { value } = await (platform.dialect === 'postgres'
          ? lock.forUpdate()
          : lock
        ).executeTakeFirstOrThrow()
        await new Promise((resolve) => setImmediate(resolve))
        await tx
          .updateTable('secrets')
          .set({ value: new Uint8Array([(value[0] ?? 0) + 1]) })
          .where('name', '=', 'n')
          .execute()
      }),
    ),
  )
  const { value } = await db
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', 'n')
    .executeTakeFirstOrThrow()
  assert.equal(value[0], 20)
})

test('a migration that was edited after it had been applied stops the start', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  const applied = await sql<{ id: string }>`select id from migrations order by position`.execute(db)
  const same = applied.rows.map(({ id }) => ({ id, sql: 'select 1;' }))
  await assert.rejects(
    migrate(db, same, platform.clock.now()),
    /was changed after it had been applied/,
  )
  const elsewhere = [{ id: 'other/001-things', sql: 'select 1;' }]
  await assert.rejects(migrate(db, elsewhere, platform.clock.now()), /made by another version/)
})

test('the release before runs on what a newer one has made, until something is taken away', async (t) => {
  const { platform } = await testApp(t)
  const { db } = platform
  const now = platform.clock.now()
  const added = {
    id: 'later/001-notes',
    sql: 'create table later_notes (id {id} primary key, is_new {boolean});',
  }
  const removed = {
    id: 'later/002-no-notes',
    sql: 'drop table later_notes;',
    contracts: true as const,
  }
  const { missing } = await planMigrations(db, [...migrations, added, removed])
  assert.deepEqual(
    missing.map(({ id, contracts }) => [id, contracts]),
    [
      ['later/001-notes', false],
      ['later/002-no-notes', true],
    ],
  )
  const boolean = platform.dialect === 'sqlite' ? 'integer' : 'boolean'
  assert.deepEqual(missing[0]?.statements, [
    `create table later_notes (id text primary key, is_new ${boolean})`,
  ])

  assert.deepEqual(await migrate(db, [...migrations, added], now), [added.id])
  assert.deepEqual(await migrate(db, migrations, now), [], 'the release before starts')
  await requireMigrated(db, migrations)
  assert.deepEqual(await planMigrations(db, migrations), { missing: [], ahead: [added.id] })
  // Two releases that both went on from the one before are no line.
  const aside = { id: 'aside/001', sql: 'select 1;' }
  await assert.rejects(migrate(db, [...migrations, aside], now), /made by another version/)

  await migrate(db, [...migrations, added, removed], now)
  await assert.rejects(
    migrate(db, migrations, now),
    /newer version .* cannot follow \(later\/002-no-notes\)/,
  )
  await assert.rejects(requireMigrated(db, migrations), /cannot follow/)
})
