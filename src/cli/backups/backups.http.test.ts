// Backups of a running service, restored elsewhere, and `db copy`: compared row by row and file by
// file.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { Config } from '#config/config.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { openDatabase } from '#platform/db/open.ts'
import { getObject, openBucket, putObject } from '#platform/s3/bucket.ts'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { BUCKET_KEYS, startBucket } from '#testing/bucket.ts'
import {
  createSiblingDatabase,
  freshDatabaseUrl,
  ON_EMBEDDED,
  ON_POSTGRES,
  readTables,
} from '#testing/database.ts'
import * as backup from '../backup.ts'
import * as copy from '../db.ts'
import * as restore from '../restore.ts'
import * as verify from '../verify.ts'
import { digest } from './place.ts'

const commands = { backup, restore, verify, db: copy }
const SECRET_KEY = 'a secret of the operator'
const ODD = 'a line\u2028separator, "quotes", a \\ backslash, {braces}, ✓, 𝒳, \r\n\t, null'

test('a backup made under load shows one moment and restores to equal rows and files', {
  skip: ON_EMBEDDED,
}, async (t) => {
  const folder = temporary(t)
  const products = makeProducts(join(folder, 'products'))
  const app = await testApp(t, { env: { SECRET_KEY, PRODUCTS_DIR: products }, worker: true })
  const { documentId, fileId, key } = await fill(app)
  const to = join(folder, 'backups')

  const load = startLoad(app)
  while (load.count() < 5) await load.next()
  const first = await run('backup', [to], app.config)
  assert.equal(first.code, 0, first.text)
  const during = load.count()
  while (load.count() < during + 3) await load.next()
  await load.stop()
  assert.match(first.text, /opens with the current SECRET_KEY, which it does not contain/)
  assert.doesNotMatch(first.text, /not sealed/)
  assert.equal((await run('verify', [to], app.config)).code, 0)
  const names = Object.keys(await rowsOf(app.platform.db))
  assert.ok(names.length > 35, `${names.length} tables`)

  // The final comparison uses a backup of a stopped service, read independently of the commands.
  await app.service.close(1_000)
  const before = await reading(app.config, rowsOf)
  const second = await run('backup', [to], app.config)
  assert.equal(second.code, 0, second.text)
  const [under = '', resting = ''] = readdirSync(to).sort()
  const recorded = await reading(app.config, rowsOf)
  assert.notDeepEqual(recorded.backups, before.backups)
  const dataBefore = filesOf(app.dataDir)

  const elsewhere = await emptyPlace(t, app.config, folder, 'first')
  const restored = await run('restore', [join(to, under)], elsewhere)
  assert.equal(restored.code, 0, restored.text)
  // Each transaction of the load inserts two rows: the backup has both or neither.
  await reading(elsewhere, async (db) => {
    const { rows } = await sql<{ here: number; there: number }>`select
      (select count(*) from inbox where source = 'load') as here,
      (select count(*) from secrets where name like 'load-%') as there`.execute(db)
    assert.equal(Number(rows[0]?.here), Number(rows[0]?.there))
    assert.ok(Number(rows[0]?.here) >= 5 && Number(rows[0]?.here) <= load.count())
  })

  const again = await emptyPlace(t, app.config, folder, 'second')
  const other = await run('restore', [to], again)
  assert.equal(other.code, 0, other.text)
  assert.match(other.text, new RegExp(resting), 'the newest counts')
  assert.equal((await run('verify', [to, '--here'], again)).code, 0)
  assert.deepEqual(filesOf(again.products.location ?? ''), filesOf(products))
  for (const name of ['prices.json', 'usage-spool.jsonl'])
    assert.deepEqual(filesOf(again.dataDir)[name], dataBefore[name], name)
  assert.equal(existsSync(join(again.dataDir, 'operators.key')), false)
  const after = await reading(again, rowsOf)
  for (const name of names) assert.deepEqual(after[name], before[name], name)

  await app.restart({
    dataDir: again.dataDir,
    products: again.products,
    originals: again.originals,
  })

  const token = await app.post('/api/auth/login', { email: 'ada@example.com', password: PASSWORD })
  assert.equal(token.status, 200, token.text)
  const asKey = { headers: { authorization: `Bearer ${key}` } }
  assert.equal((await app.get('/v1/models', asKey)).status, 200)
  const chunk = await app.post('/api/rag/search', { query: 'separator' }, asKey)
  assert.equal(chunk.body.results?.[0]?.id?.slice(0, 12), documentId, chunk.text)

  const file = await app.get(`/api/rag/documents/${fileId}/file`, asKey)
  assert.equal(file.text, `An upload. ${ODD}`)

  // The service's data have changed since the backup; a restore must not overwrite them.
  await app.as('eve')
  const apart = await run('verify', [to, '--here'], app.config)
  assert.equal(apart.code, 1)
  const users = (before.users ?? []).length
  assert.match(apart.text, new RegExp(`✖ users has ${users + 1} rows instead of ${users}$`, 'm'))
  await app.service.close(1_000)
  const refused = await run('restore', [to], { ...app.config, products: again.products })
  assert.equal(refused.code, 1)
  assert.match(refused.text, /nothing is overwritten/)
})

test('a killed restore can be started again, and removes the files of the first try', {
  skip: ON_EMBEDDED,
}, async (t) => {
  const folder = temporary(t)
  const products = makeProducts(join(folder, 'products'))
  const app = await testApp(t, { env: { SECRET_KEY, PRODUCTS_DIR: products } })
  await app.as('ada')
  await app.service.close(1_000)
  const to = join(folder, 'backups')
  assert.equal((await run('backup', [to], app.config)).code, 0)

  const elsewhere = await emptyPlace(t, app.config, folder, 'elsewhere')
  const scratch = join(elsewhere.dataDir, '.restore-killed')
  mkdirSync(scratch, { recursive: true })
  writeFileSync(join(scratch, 'latchkey.db'), 'half of a database')
  // Killed before the file had its time and mode.
  const tool = join(elsewhere.products.location ?? '', 'pro', '1.0', 'bin', 'tool')
  mkdirSync(dirname(tool), { recursive: true })
  writeFileSync(tool, Buffer.from([0, 1, 255]), { mode: 0o600 })

  const other = lockFolder(elsewhere.dataDir, ['restore'])
  const beside = await run('restore', [to], elsewhere)
  assert.equal(beside.code, 1)
  assert.match(beside.text, /is in use by this process/)
  assert.ok(existsSync(scratch), 'one that still runs keeps its copy')
  other()

  const restored = await run('restore', [to], elsewhere)
  assert.equal(restored.code, 0, restored.text)
  assert.deepEqual(
    readdirSync(elsewhere.dataDir).filter((name) => name.startsWith('.restore-')),
    [],
  )
  assert.deepEqual(filesOf(elsewhere.products.location ?? ''), filesOf(products))
  assert.equal((await run('verify', [to, '--here'], elsewhere)).code, 0)
})

describe('a restore that is refused changes nothing', { skip: ON_EMBEDDED }, () => {
  test('when the backup is damaged, or SECRET_KEY does not open it', async (t) => {
    const folder = temporary(t)
    const app = await testApp(t, { env: { SECRET_KEY } })
    await app.as('ada')
    const whole = join(folder, 'whole')
    writeFileSync(join(app.config.dataDir, 'prices.json'), '{}')
    writeFileSync(join(app.config.dataDir, 'usage-spool.jsonl'), '\n')
    assert.equal((await run('backup', [whole], app.config)).code, 0)
    await app.service.close(1_000)
    const [name = ''] = readdirSync(whole)
    const isFile = existsSync(join(whole, name, 'database', 'latchkey.db'))
    const part = isFile ? 'latchkey.db' : 'latchkey.dump'

    type Spoil = (
      backup: string,
      manifest: { files: { path: string }[]; [field: string]: unknown },
    ) => void
    const spoilt: [string, Spoil, RegExp][] = [
      ['cut short', (to) => rmSync(join(to, 'manifest.json')), /there is no complete backup at/],
      ['without a file', (to) => rmSync(join(to, 'database', part)), /is missing/],
      [
        'without its last file',
        (to) => rmSync(join(to, 'data', 'usage-spool.jsonl')),
        /is missing/,
      ],
      [
        'truncated',
        (to) => cut(join(to, 'database', part)),
        /has changed|differs from its checksum/,
      ],
      [
        'changed',
        (to) => flip(join(to, 'database', part)),
        /has changed|differs from its checksum/,
      ],
      [
        'leading out',
        (_, { files }) => Object.assign(files[0]!, { path: 'data/../../../tmp/evil' }),
        /outside of the backup/,
      ],
      [
        'leading away',
        (_, { files }) => Object.assign(files[0]!, { path: '/etc/cron.d/evil' }),
        /outside of the backup/,
      ],
      [
        'backslashes',
        (_, { files }) => Object.assign(files[0]!, { path: 'data/..\\evil' }),
        /outside of the backup/,
      ],
      [
        'no manifest',
        (to) => writeFileSync(join(to, 'manifest.json'), '{"format":1}'),
        /is damaged, or another version/,
      ],
      [
        'of tomorrow',
        (_, manifest) => Object.assign(manifest, { format: 2 }),
        /is damaged, or another version/,
      ],
    ]
    const elsewhere = await emptyPlace(t, app.config, folder, 'elsewhere')
    for (const [title, spoil, says] of spoilt) {
      const to = join(folder, title)
      cpSync(join(whole, name), to, { recursive: true })
      const file = join(to, 'manifest.json')
      const manifest = JSON.parse(readFileSync(file, 'utf8'))
      const untouched = JSON.stringify(manifest)
      spoil(to, manifest)
      if (JSON.stringify(manifest) !== untouched) writeFileSync(file, JSON.stringify(manifest))
      for (const command of ['verify', 'restore'] as const) {
        const { code, text } = await run(command, [to], elsewhere)
        assert.equal(code, 1, `${command} of one ${title}: ${text}`)
        assert.match(text, says, `${command} of one ${title}`)
      }
      assert.equal(existsSync(join(elsewhere.dataDir, 'latchkey.db')), false, title)
      const left = existsSync(elsewhere.dataDir) ? readdirSync(elsewhere.dataDir) : []
      assert.deepEqual(
        left.filter((file) => !file.endsWith('.lock')),
        [],
        title,
      )
    }

    for (const [secretKey, says] of [
      [null, /sealed with a SECRET_KEY: set it/],
      ['another secret of someone', /SECRET_KEY is not the one/],
    ] as const) {
      const { code, text } = await run('restore', [whole], { ...elsewhere, secretKey })
      assert.deepEqual([code, says.test(text)], [1, true], text)
      // Without a key the files can still be checked; a key that does not open the backup is a
      // fault.
      const verified = await run('verify', [whole], { ...elsewhere, secretKey })
      assert.equal(verified.code, secretKey === null ? 0 : 1, verified.text)
      assert.match(
        verified.text,
        secretKey === null
          ? /– SECRET_KEY is not set/
          : /✖ the current SECRET_KEY does not open the backup/,
      )
    }
    const right = await run('restore', [whole], elsewhere)
    assert.equal(right.code, 0, right.text)
  })

  test('when the arguments or settings are wrong', async () => {
    const config = { products: { s3: {} } } as Config
    for (const [command, args, says] of [
      ['backup', [], /usage: npm run cli -- backup/],
      ['backup', ['a', 'b'], /usage/],
      ['backup', ['a', '--fast'], /usage/],
      ['restore', ['ftp://host/x'], /cannot store backups/],
      ['backup', ['s3://bucket/x'], /needs AWS_ACCESS_KEY_ID/],
      ['db', ['move'], /usage: npm run cli -- db copy/],
      ['db', ['copy'], /set DATABASE_URL/],
    ] as const) {
      const { code, text } = await run(command, [...args], { ...config, databaseUrl: null })
      assert.equal(code, 1)
      assert.match(text, says)
    }
  })
})

test('a backup is stored in a bucket and restored from it', { skip: ON_EMBEDDED }, async (t) => {
  const folder = temporary(t)
  const objects: Record<string, string> = {}
  const endpoint = await startBucket(t, objects, { failures: 1 })
  const app = await testApp(t, {
    env: {
      SECRET_KEY,
      PRODUCTS_DIR: makeProducts(join(folder, 'products')),
      S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
    },
  })
  await app.as('ada')
  const place = 's3://products-bucket/backups of ours'
  const made = await run('backup', [place], app.config)
  assert.equal(made.code, 0, made.text)
  const whole = await run('verify', [place], app.config)
  assert.equal(whole.code, 0, whole.text)
  await app.service.close(1_000)

  const elsewhere = await emptyPlace(t, app.config, folder, 'elsewhere')
  const restored = await run('restore', [place], elsewhere)
  assert.equal(restored.code, 0, restored.text)
  assert.deepEqual(filesOf(elsewhere.products.location ?? ''), filesOf(join(folder, 'products')))
  assert.equal((await run('verify', [place, '--here'], elsewhere)).code, 0)

  const [tool = ''] = Object.keys(objects).filter((name) => name.endsWith('bin/tool'))
  objects[tool] = `x${objects[tool]?.slice(1)}`
  const spoilt = await run('verify', [place], app.config)
  assert.deepEqual([spoilt.code, /bin\/tool has changed/.test(spoilt.text)], [1, true], spoilt.text)
})

test('a large object is uploaded in parts, and a failed upload leaves none', {
  skip: ON_EMBEDDED,
}, async (t) => {
  const objects: Record<string, string> = {}
  const trouble = { failures: 0 }
  const endpoint = await startBucket(t, objects, trouble)
  const settings = { endpoint, region: 'us-east-1', sessionToken: null, ...BUCKET_KEYS }
  const { bucket } = openBucket('s3://products-bucket/large', settings)
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  for (const [name, length] of [
    ['empty', 0],
    ['one', 10],
    ['two', 11],
    ['many', 256],
  ] as const) {
    trouble.failures = name === 'many' ? 1 : 0
    const content = bytes.subarray(0, length)
    const written = await digest(
      Readable.from([content.subarray(0, 7), content.subarray(7)]),
      (measured) => putObject(bucket, `large/${name}`, measured, 10),
    )
    assert.equal(written.bytes, length)
    assert.deepEqual(Buffer.from(objects[`large/${name}`] ?? '?', 'latin1'), content, name)
    assert.deepEqual(await digest((await getObject(bucket, `large/${name}`))!), written)
  }
  const broken = Readable.from(
    (async function* () {
      yield bytes
      throw new Error('the disk is gone')
    })(),
  )
  await assert.rejects(putObject(bucket, 'large/broken', broken, 10), /the disk is gone/)
  assert.equal(objects['large/broken'], undefined)
})

test('db copy moves a used SQLite database to PostgreSQL, and users continue there', {
  skip: !ON_POSTGRES,
}, async (t) => {
  const app = await testApp(t, { env: { DATABASE_URL: '', SECRET_KEY } })
  const { documentId, key } = await fill(app)
  const target = await freshDatabaseUrl()
  t.after(target.drop)
  const config = { ...app.config, databaseUrl: target.url }
  const busy = await run('db', ['copy'], config)
  assert.equal(busy.code, 1)
  assert.match(busy.text, /is in use by/)

  await app.service.close(1_000)
  const before = await reading(app.config, rowsOf)
  const copied = await run('db', ['copy'], config)
  assert.equal(copied.code, 0, copied.text)
  assert.match(copied.text, /^users +1 {2}[0-9a-f]{16}$/m)
  assert.match((await run('db', ['copy'], config)).text, /is not empty, and nothing is overwritten/)
  const after = await reading(config, rowsOf)
  for (const name of Object.keys(before)) assert.deepEqual(after[name], before[name], name)

  await app.restart({ databaseUrl: target.url })
  assert.equal(app.platform.dialect, 'postgres')
  const token = await app.post('/api/auth/login', { email: 'ada@example.com', password: PASSWORD })
  assert.equal(token.status, 200, token.text)
  const asKey = { headers: { authorization: `Bearer ${key}` } }
  const contents = await app.get(`/api/rag/documents`, asKey)
  assert.match(contents.text, new RegExp(documentId))
  // Sequences continue: a new audit entry follows the last one.
  assert.equal((await app.as('eve').get('/api/users/me')).status, 200)
})

/** Creates a user with a document, a key and a call, and rows with values that are hard to copy. */
async function fill(app: TestApp): Promise<{ documentId: string; fileId: string; key: string }> {
  const ada = await app.as('ada', { tier: 'pro' })
  const stored = await ada.post('/api/rag/ingest/text', {
    content: `${ODD}\n\n`.repeat(40),
    metadata: { odd: ODD, deep: { n: [1.5, null] } },
  })
  assert.equal(stored.status, 200, stored.text)
  const form = new FormData()
  form.append('file', new Blob([`An upload. ${ODD}`]), 'odd.txt')
  const uploaded = await ada.post('/api/rag/ingest/file', form)
  assert.equal(uploaded.status, 200, uploaded.text)
  const made = await ada.post('/api/api-keys', { name: ODD.slice(0, 20).replaceAll('\u2028', ' ') })
  assert.equal(made.status, 201, made.text)
  const asKey = { headers: { authorization: `Bearer ${made.body.key}` } }
  const said = await app.post(
    '/v1/chat/completions',
    { model: 'gpt-6.1-terra', messages: [{ role: 'user', content: 'Hello' }] },
    asKey,
  )
  assert.equal(said.status, 200, said.text)
  await app.settle()
  const { db } = app.platform
  const at = '2026-01-02T03:04:05.678Z'
  const payload = {
    text: ODD,
    half: '\ud800',
    nul: '\0',
    number: 12345678.9,
    nested: { b: [], a: {} },
  }
  await db
    .insertInto('inbox')
    .values({
      source: 'odd',
      event_id: 'empty',
      payload_json: payload,
      received_at: at,
      handled_at: null,
    })
    .execute()
  await db
    .insertInto('secrets')
    .values({
      name: 'odd',
      value: Uint8Array.from({ length: 256 }, (_, byte) => byte),
      created_at: at,
    })
    .execute()
  await sql`insert into archive_checksums (etag, sha256, size_bytes) values (${'{"a\\"b",NULL}'}, ${''}, ${2 ** 53 - 1})`.execute(
    db,
  )
  writeFileSync(join(app.dataDir, 'prices.json'), '{"prices":[]}')
  writeFileSync(join(app.dataDir, 'usage-spool.jsonl'), '\n')
  writeFileSync(join(app.dataDir, 'operators.key'), SECRET_KEY)
  const idOf = ({ body }: typeof stored) => String(body.document_ids[0]).slice(0, 12)
  return { documentId: idOf(stored), fileId: idOf(uploaded), key: made.body.key }
}

/** Runs transactions that each write two rows, and registrations. */
function startLoad({ platform }: TestApp) {
  const { db, clock } = platform
  let count = 0
  let isOn = true
  const work = async () => {
    while (isOn) {
      await transaction(db, async (tx) => {
        const id = `load-${count}`
        await tx
          .insertInto('secrets')
          .values({ name: id, value: new Uint8Array([1]), created_at: clock.now() })
          .execute()
        await new Promise((resolve) => setImmediate(resolve))
        await tx
          .insertInto('inbox')
          .values({
            source: 'load',
            event_id: id,
            payload_json: {},
            received_at: clock.now(),
            handled_at: clock.now(),
          })
          .execute()
      })
      count++
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const running = work()
  return {
    count: () => count,
    next: () => Promise.race([running, new Promise((resolve) => setTimeout(resolve, 5))]),
    stop: () => {
      isOn = false
      return running
    },
  }
}

/** Returns all rows of all tables as the driver returns them, in a fixed order. */
async function rowsOf(db: Db): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {}
  for (const name of (await readTables(db)).keys()) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(db)
    all[name] = rows.map((row) => JSON.stringify(plain(row))).sort()
  }
  return all
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  return Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

/** Returns settings of an empty service: on PostgreSQL a fresh database with the same schema. */
async function emptyPlace(
  t: TestContext,
  config: Config,
  folder: string,
  name: string,
): Promise<Config> {
  const { databaseUrl } = config
  const { url, drop } =
    databaseUrl === null ? await freshDatabaseUrl() : await createSiblingDatabase(databaseUrl)
  t.after(drop)
  const location = config.products.location === null ? null : join(folder, name, 'products')
  return {
    ...config,
    databaseUrl: url,
    dataDir: join(folder, name, 'data'),
    originals: join(folder, name, 'originals'),
    products: { ...config.products, location },
  }
}

/** Opens the database without a service, which would write when it starts. */
async function reading<T>(
  { databaseUrl, dataDir }: Config,
  look: (db: Db) => Promise<T>,
): Promise<T> {
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  return await look(db).finally(close)
}

function makeProducts(folder: string): string {
  mkdirSync(join(folder, 'pro', '1.0', 'bin'), { recursive: true })
  writeFileSync(join(folder, 'pro', '1.0', 'README ✓.md'), ODD)
  writeFileSync(join(folder, 'pro', '1.0', 'bin', 'tool'), Buffer.from([0, 1, 255]), {
    mode: 0o755,
  })
  writeFileSync(join(folder, 'pro', '1.0', 'empty'), '')
  return folder
}

/** Returns the content, time and executable bit of every file. */
function filesOf(folder: string): Record<string, unknown> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      const { mtime, mode } = statSync(path)
      const isProduct = path.includes('products')
      return [
        path.slice(folder.length + 1),
        [
          readFileSync(path).toString('latin1'),
          ...(isProduct ? [mtime.toISOString(), mode & 0o100] : []),
        ],
      ]
    }),
  )
}

const cut = (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -100))

function flip(file: string): void {
  const bytes = readFileSync(file)
  const at = bytes.length - 20
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

async function run(command: keyof typeof commands, args: string[], config: Config) {
  let text = ''
  const context = {
    config,
    print: (line = '') => {
      text += `${line}\n`
    },
    platform: () => Promise.reject(new Error('must not be called')),
  }
  const code = await commands[command].run(args, context).catch((error: Error) => {
    text += error.message
    return 1
  })
  return { code, text }
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-backups-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
