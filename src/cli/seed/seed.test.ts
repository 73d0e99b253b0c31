import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#src/config.ts'
import { deedsUntil } from './script.ts'

const NOW = Date.parse('2026-11-22T10:00:00.000Z')

test('the same day has the same year behind it, in its order, and none of it is to come', () => {
  const { catalogue } = readConfig({})
  const deeds = deedsUntil(NOW, catalogue)
  assert.deepEqual(deedsUntil(NOW + 3_600_000, catalogue), deeds)
  assert.ok(deeds.every(({ at }, index) => index === 0 || (deeds[index - 1]?.at ?? '') <= at))
  assert.ok((deeds.at(-1)?.at ?? '') < new Date(NOW).toISOString())
  assert.ok(deeds.filter(({ kind }) => kind === 'call').length > 2_000)
})

test('whoever takes a plan takes a paid one, wherever the free one stands, and pays in its product’s currency', (t) => {
  const path = join(temporary(t), 'catalogue.json')
  const team = { tier: 'team', name: 'Team', prices: { month: 'price_team' }, grants: ['ai'] }
  const free = { tier: 'free', name: 'Free', prices: {}, grants: [] }
  const kit = { tier: 'kit', name: 'Kit', price: 60_000, currency: 'jpy' }
  writeFileSync(path, JSON.stringify({ plans: [team, free], products: [kit] }))
  const deeds = deedsUntil(NOW, readConfig({ CATALOGUE: path }).catalogue)
  const of = (kind: string) => deeds.filter((deed) => deed.kind === kind)
  assert.ok(of('subscribe').length > 0 && of('subscribe').every((deed) => 'tier' in deed && deed.tier === 'team'))
  assert.ok(of('buy').length > 0 && of('buy').every((deed) => 'amountCents' in deed && deed.amountCents === 60_000))
})

test('seed fills a new data folder once, and no second time', (t) => {
  const folder = temporary(t)
  // As whoever made the file and nothing in it.
  new DatabaseSync(join(folder, 'latchkey.db')).close()
  const first = seed(folder)
  assert.match(first.stdout, /13 users, 9 API keys, 7 purchases, 21 documents, \d+ calls/, first.stderr)
  assert.equal(first.status, 0)

  const database = new DatabaseSync(join(folder, 'latchkey.db'), { readOnly: true })
  t.after(() => database.close())
  const count = () => database.prepare('select count(*) as rows, sum(cost_nanos) as nanos from usage_records').get()
  const before = count()

  const second = seed(folder)
  assert.match(second.stdout, /Refused: there are people in this database/)
  assert.equal(second.status, 1)
  assert.deepEqual(count(), before)
})

for (const [what, env] of [
  ['production', { NODE_ENV: 'production', SECRET_KEY: 'a secret of the operator' }],
  ['mail that leaves the machine', { SMTP_URL: 'smtp://127.0.0.1:9' }],
] as const) {
  test(`seed refuses ${what}, and makes no database`, (t) => {
    const folder = join(temporary(t), 'new')
    const { status, stdout } = seed(folder, env)
    assert.match(stdout, /^Refused: /)
    assert.equal(status, 1)
    assert.equal(existsSync(folder), false)
  })
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-seed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function seed(dataDir: string, env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [join(import.meta.dirname, '..', 'main.ts'), 'seed'], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env },
    encoding: 'utf8',
    timeout: 120_000,
  })
}
