// Commands do not change the service's data, except `seed`, `migrate`, and commands that write data
// on purpose.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { migrations } from '#app/migrations.ts'
import { readConfig } from '#config/config.ts'
import { openPlatform } from '#platform/platform.ts'

const CLI = join(import.meta.dirname, 'main.ts')

for (const args of [
  ['doctor'],
  ['audit', 'verify'],
  ['jobs'],
  ['superuser', 'add', 'ada@example.com'],
]) {
  test(`${args.join(' ')} does not create a missing database`, async (t) => {
    const folder = temporary(t)
    const dataDir = join(folder, 'typo')
    const { code, text } = await cli(args, { DATA_DIR: dataDir })
    assert.equal(existsSync(dataDir), false, readdirSync(folder).join())
    assert.match(text, /there is no database in .*typo: start the service once, or check DATA_DIR/)
    assert.equal(code, args[0] === 'doctor' ? 0 : 1)
  })

  test(`${args.join(' ')} does not migrate a database of an older version`, async (t) => {
    const dataDir = temporary(t)
    await make(dataDir, migrations.slice(0, -1))
    const before = digest(dataDir)
    const { code, text } = await cli(args, { DATA_DIR: dataDir })
    assert.match(
      text,
      /it is of an older version \(migrations missing: 1\): start the service of this one first/,
    )
    assert.equal(code, args[0] === 'doctor' ? 0 : 1)
    assert.deepEqual(digest(dataDir), before)
  })
}

test('every form of help is printed, for all commands or for one, and no command runs', async (t) => {
  const dataDir = join(temporary(t), 'none')
  for (const [args, says] of [
    [['--help'], /Usage: npm run cli[\s\S]+superuser add EMAIL/],
    [['help'], /Usage: npm run cli/],
    [['rag', 'sync', '--help'], /Usage: rag sync DIR[\s\S]+--dry-run/],
    [['billing', 'report', '-h'], /billing report --month/],
    [['seed', '--help'], /Usage: seed[\s\S]+--number N/],
  ] as const) {
    const { code, text } = await cli([...args], { DATA_DIR: dataDir })
    assert.equal(code, 0, text)
    assert.match(text, says)
    assert.doesNotMatch(text, /There is no command|Unknown option/)
  }
  assert.equal(existsSync(dataDir), false)
})

test('the plan of a migration shows what the next one applies', async (t) => {
  const dataDir = temporary(t)
  const nowhere = await cli(['migrate'], { DATA_DIR: join(dataDir, 'typo') })
  assert.deepEqual([nowhere.code, existsSync(join(dataDir, 'typo'))], [1, false], nowhere.text)

  await make(dataDir, migrations.slice(0, -1))
  const before = digest(dataDir)
  const last = migrations.at(-1)?.id ?? ''
  const plan = await cli(['migrate', '--plan'], { DATA_DIR: dataDir })
  assert.equal(plan.code, 0, plan.text)
  assert.ok(plan.text.startsWith(`-- ${last}\ncreate table`), plan.text)
  assert.doesNotMatch(plan.text, /\{\w+\}/, 'as this engine runs it')
  assert.deepEqual(digest(dataDir), before)
  assert.equal((await cli(['migrate'], { DATA_DIR: dataDir })).text, `applied ${last}\n`)
  assert.equal((await cli(['migrate', '--plan'], { DATA_DIR: dataDir })).text, 'nothing to apply\n')
})

test('read-only commands change no data and leave no files', async (t) => {
  const dataDir = temporary(t)
  await make(dataDir, migrations)
  const before = digest(dataDir)
  for (const args of [['doctor'], ['audit', 'verify'], ['jobs'], ['migrate', '--plan']]) {
    // Only the service may seal the root with a new SECRET_KEY.
    const { code, text } = await cli(args, {
      DATA_DIR: dataDir,
      SECRET_KEY: 'a secret of the operator',
    })
    assert.equal(code, 0, text)
    assert.deepEqual(digest(dataDir), before, args.join(' '))
  }
  assert.equal((await cli(['superuser', 'add', 'ada@example.com'], { DATA_DIR: dataDir })).code, 0)
  assert.notDeepEqual(digest(dataDir), before)
})

test('the doctor reports several processes on one SQLite file without a fault', async (t) => {
  const { code, text } = await cli(['doctor'], { DATA_DIR: temporary(t), SERVE: 'worker' })
  assert.match(text, /– SERVE +without DATABASE_URL the processes share one SQLite file/)
  assert.equal(code, 0, text)
})

test('the doctor reports an unreachable Redis in one line, without logs', async (t) => {
  const dataDir = temporary(t)
  await make(dataDir, migrations)
  const { code, text } = await cli(['doctor'], {
    DATA_DIR: dataDir,
    REDIS_URL: 'redis://127.0.0.1:1',
  })
  assert.equal(code, 1)
  assert.match(text, /✖ Redis +redis:\/\/127\.0\.0\.1:1 cannot be reached: ECONNREFUSED\n/)
  assert.doesNotMatch(text, /"level"|at .+\.js:\d+|enableOfflineQueue/)
})

test('the doctor marks what production lacks', async (t) => {
  const dataDir = temporary(t)
  const { code, text } = await cli(['doctor'], {
    DATA_DIR: dataDir,
    NODE_ENV: 'production',
    BASE_URL: 'https://x.io',
  })
  assert.equal(code, 1)
  assert.match(text, /✖ SECRET_KEY +not set/)
  const short = await cli(['doctor'], { DATA_DIR: dataDir, SECRET_KEY: 'short' })
  assert.match(short.text, /✖ SECRET_KEY +shorter than 16/)
  const open = await cli(['doctor'], {
    DATA_DIR: dataDir,
    BASE_URL: 'https://x.io',
    SMTP_URL: 'smtp://mail.x.io',
  })
  assert.match(open.text, /✖ NODE_ENV +NODE_ENV is not production, but https:\/\/x\.io/)
  assert.match(open.text, /– Sign-in google/)
})

test('prices runs even if PRICES names an invalid list, which prevents every other start', async (t) => {
  const folder = temporary(t)
  const env = { DATA_DIR: folder, PRICES: join(folder, 'mine.json'), NODE_ENV: 'production' }
  writeFileSync(join(folder, 'data.json'), JSON.stringify([{ id: 'openai', models: [MODEL] }]))
  const made = await cli(['prices', 'update', join(folder, 'data.json'), '--force'], env)
  assert.match(
    made.text,
    /mine\.json does not exist\. The service does not start with it.*uses it after its next start/s,
  )
  assert.equal(made.code, 0)
  const listed = await cli(['prices'], env)
  assert.match(listed.text, /genai-prices of .*: 1 models of 1 vendors/)
})

const MODEL = { id: 'gpt-4o', prices: { input_mtok: 2, output_mtok: 8 } }

async function make(dataDir: string, applied: typeof migrations): Promise<void> {
  const platform = await openPlatform(readConfig({ DATA_DIR: dataDir }), applied, {
    log: pino({ level: 'silent' }),
  })
  await platform.close()
}

/** Returns the names of the files and the content of the database. */
function digest(dataDir: string): unknown {
  const file = join(dataDir, 'latchkey.db')
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex')
  const database = new DatabaseSync(file)
  const { applied } = database.prepare('select count(*) as applied from migrations').get() as {
    applied: number
  }
  database.close()
  return { files: readdirSync(dataDir).sort(), hash, applied }
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-cli-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function cli(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, PORT: '0', STOREFRONT_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, text }
}
