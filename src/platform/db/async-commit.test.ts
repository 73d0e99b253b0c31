import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'

const writer = (dataDir: string) => `
  import { sql } from 'kysely'
  import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, 'open.ts'))}
  import { commitAsync } from ${JSON.stringify(join(import.meta.dirname, 'async-commit.ts'))}
  const { db } = openDatabase({ databaseUrl: null, dataDir: ${JSON.stringify(dataDir)} })
  await sql\`create table calls (number integer)\`.execute(db)
  for (let number = 1; number <= 100; number++) {
    await commitAsync(db, (run) => run(sql\`insert into calls values (\${number})\`.compile(db)))
  }
  process.kill(process.pid, 'SIGKILL')
`

test('an asynchronous commit outlives a kill that follows at once', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'async-commit-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const { signal, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', writer(dataDir)],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  )
  assert.equal(signal, 'SIGKILL', stderr)
  const db = new DatabaseSync(join(dataDir, 'latchkey.db'))
  t.after(() => db.close())
  assert.deepEqual(
    { ...db.prepare('select count(*) as calls, max(number) as last from calls').get() },
    { calls: 100, last: 100 },
  )
  assert.deepEqual({ ...db.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
})
