import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freshDatabaseUrl } from '#testing/database.ts'
import { systemClock } from './clock.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { platformMigrations } from './migrations.ts'
import { deriveSecrets, openSecrets } from './secrets.ts'

const KEYS = { secretKey: 'the first secret of the operator', secretKeyOld: null }
const NONE = { secretKey: null, secretKeyOld: null }

test('with a SECRET_KEY, a copy of the database reveals no secrets', async (t) => {
  const { deps, stored } = await database(t)
  const secrets = await openSecrets(deps, KEYS)
  const sealed = secrets.seal('totp', 'a secret')
  assert.equal((await openSecrets(deps, KEYS)).open('totp', sealed), 'a secret')
  // The stored value, treated as the root itself.
  const root = await stored()
  assert.equal(root.length, 60)
  for (const guess of [root, root.subarray(28), root.subarray(0, 32)]) {
    assert.throws(() => deriveSecrets(guess).open('totp', sealed), /not sealed here/)
    assert.notEqual(deriveSecrets(guess).hash('api-keys', 'x'), secrets.hash('api-keys', 'x'))
  }
  await assert.rejects(openSecrets(deps, NONE), /sealed with a SECRET_KEY: set it/)
  await assert.rejects(openSecrets(deps, { ...KEYS, secretKey: 'another' }), /SECRET_KEY_OLD/)
  assert.deepEqual(await stored(), root)
})

test('SECRET_KEY can be replaced when SECRET_KEY_OLD is set, and existing secrets still open', async (t) => {
  const { deps, stored } = await database(t)
  const before = await openSecrets(deps, KEYS)
  const sealed = before.seal('license-key', 'LK-1')
  const next = { secretKey: 'the second secret', secretKeyOld: KEYS.secretKey }

  // A command that only looks leaves it as it is.
  const old = await stored()
  assert.equal(
    (await openSecrets(deps, next, { isGuest: true })).open('license-key', sealed),
    'LK-1',
  )
  assert.deepEqual(await stored(), old)

  const nodes = await Promise.all([openSecrets(deps, next), openSecrets(deps, next)])
  for (const node of [...nodes, await openSecrets(deps, { ...next, secretKeyOld: null })]) {
    assert.equal(node.open('license-key', sealed), 'LK-1')
    assert.equal(node.hash('api-keys', 'x'), before.hash('api-keys', 'x'))
  }
  await assert.rejects(openSecrets(deps, KEYS), /is not the one/)
  await assert.rejects(
    openSecrets(deps, { secretKey: 'a', secretKeyOld: 'b' }),
    /neither SECRET_KEY nor/,
  )
})

test('the first start with a SECRET_KEY encrypts a plain root secret', async (t) => {
  const { deps, stored } = await database(t)
  const sealed = (await openSecrets(deps, NONE)).seal('totp', 'x')
  assert.equal((await stored()).length, 32)
  assert.equal((await openSecrets(deps, KEYS)).open('totp', sealed), 'x')
  assert.equal((await stored()).length, 60)
})

test('a guest makes no keys', async (t) => {
  const { deps } = await database(t)
  await assert.rejects(openSecrets(deps, KEYS, { isGuest: true }), /start the service once/)
})

async function database(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-secrets-'))
  const fresh = await freshDatabaseUrl()
  const { db, close } = openDatabase({ databaseUrl: fresh.url, dataDir, onNotice: () => {} })
  t.after(async () => {
    await close()
    await fresh.drop()
    rmSync(dataDir, { recursive: true })
  })
  await migrate(db, platformMigrations, systemClock.now())
  return {
    deps: { db, clock: systemClock },
    async stored() {
      const { value } = await db.selectFrom('secrets').select('value').executeTakeFirstOrThrow()
      return Buffer.from(value)
    },
  }
}
