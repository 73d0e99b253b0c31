import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  addSavedSettings,
  findOverride,
  readSettingsFile,
  settingsPath,
  writeSettingsFile,
} from './settings-file.ts'

const PLAIN = { secretKey: null, secretKeyOld: null }
const SAVED = { STRIPE_SECRET_KEY: 'sk_test_secretsecret', MAIL_FROM: 'Zebra <a@example.com>' }

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'latchkey-settings-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a saved file is read again, and belongs to its owner alone', (t) => {
  const dir = folder(t)
  assert.deepEqual(readSettingsFile(dir, PLAIN), { saved: {}, isCurrent: true })
  writeSettingsFile(dir, PLAIN, SAVED)
  chmodSync(settingsPath(dir), 0o644)
  writeSettingsFile(dir, PLAIN, SAVED)
  assert.deepEqual(readSettingsFile(dir, PLAIN).saved, SAVED)
  assert.equal(statSync(settingsPath(dir)).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(dir), ['settings.json'])
  writeSettingsFile(dir, PLAIN, {})
  assert.deepEqual(readdirSync(dir), [])
})

test('with a SECRET_KEY the file contains no secret, and opens after the key was rotated', (t) => {
  const dir = folder(t)
  const first = { secretKey: 'the first secret key', secretKeyOld: null }
  writeSettingsFile(dir, first, SAVED)
  assert.doesNotMatch(readFileSync(settingsPath(dir), 'utf8'), /STRIPE|sk_test|Zebra/)
  assert.deepEqual(readSettingsFile(dir, first), { saved: SAVED, isCurrent: true })
  const rotated = { secretKey: 'the second secret key', secretKeyOld: 'the first secret key' }
  assert.deepEqual(readSettingsFile(dir, rotated), { saved: SAVED, isCurrent: false })
  for (const keys of [PLAIN, { secretKey: 'a guessed secret key', secretKeyOld: null }])
    assert.throws(
      () => readSettingsFile(dir, keys),
      /settings\.json cannot be read: it is encrypted/,
    )
})

test('a changed, cut or foreign file stops the start with one line', (t) => {
  const dir = folder(t)
  const keys = { secretKey: 'the first secret key', secretKeyOld: null }
  writeSettingsFile(dir, keys, SAVED)
  const { sealed } = JSON.parse(readFileSync(settingsPath(dir), 'utf8')) as { sealed: string }
  for (const text of [
    '',
    '[]',
    'null',
    '{"DATABASE_URL":"postgres://thief"}',
    '{"NODE_OPTIONS":"--require=/tmp/x"}',
    '{"__proto__":{"STRIPE_SECRET_KEY":"sk"},"SECRET_KEY":"x"}',
    '{"SMTP_URL":7}',
    JSON.stringify({ sealed: sealed.slice(0, -4) }),
    JSON.stringify({ sealed: `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}` }),
    JSON.stringify({ sealed: '' }),
  ]) {
    writeFileSync(settingsPath(dir), text)
    assert.throws(() => readSettingsFile(dir, keys), /settings\.json cannot be read: /, text)
  }
})

test('a link in place of the file is replaced, and its target keeps its content', (t) => {
  const dir = folder(t)
  const victim = join(dir, 'victim')
  writeFileSync(victim, 'untouched')
  symlinkSync(victim, settingsPath(dir))
  symlinkSync(victim, `${settingsPath(dir)}.${process.pid}.new`)
  writeSettingsFile(dir, PLAIN, SAVED)
  assert.equal(readFileSync(victim, 'utf8'), 'untouched')
  assert.deepEqual(readSettingsFile(dir, PLAIN).saved, SAVED)
})

test('the environment takes precedence; its Stripe key also hides the saved webhook secret', () => {
  const saved = {
    STRIPE_SECRET_KEY: 'saved',
    STRIPE_WEBHOOK_SECRET: 'saved',
    OPENAI_API_KEY: 'saved',
  }
  const used = (env: Record<string, string>) => {
    const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, OPENAI_API_KEY } = addSavedSettings(
      env,
      saved,
    )
    return [STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, OPENAI_API_KEY]
  }
  assert.deepEqual(used({}), ['saved', 'saved', 'saved'])
  assert.deepEqual(used({ STRIPE_SECRET_KEY: ' ' }), ['saved', 'saved', 'saved'])
  assert.deepEqual(used({ STRIPE_SECRET_KEY: 'env' }), ['env', undefined, 'saved'])
  assert.deepEqual(used({ PROCESSOR_SECRET_KEY: 'env' }), [undefined, undefined, 'saved'])
  assert.deepEqual(used({ STRIPE_SECRET_KEY_FILE: '/run/key' }), [undefined, undefined, 'saved'])
  assert.deepEqual(used({ STRIPE_WEBHOOK_SECRET: 'env' }), ['saved', 'env', 'saved'])
  assert.deepEqual(used({ OPENAI_API_KEY: 'env' }), ['saved', 'saved', 'env'])
  assert.equal(findOverride({ CATALOGUE: 'plans.json' }, 'PRICE_PRO_MONTHLY'), 'CATALOGUE')
  assert.equal(findOverride({ SMTP_URL_FILE: '/run/smtp' }, 'MAIL_FROM'), 'SMTP_URL_FILE')
  assert.equal(findOverride({}, 'MAIL_FROM'), null)
})
