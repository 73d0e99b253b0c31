import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '#platform/problem.ts'
import { readConfig } from '#src/config.ts'
import { refuseWeak } from './password-rules.ts'

test('weak passwords are refused, and the field is named', () => {
  const rules = { config: readConfig({ PRODUCT_NAME: 'Harbour-Master' }) }
  for (const [password, weak] of [
    ['short77', true],
    ['exactly8', false],
    ['password', true],
    ['PassWord', true],
    ['iloveyou', true],
    ['qwertyuiop', true],
    ['ada@example.com', true],
    ['ADA@Example.com', true],
    ['ada@example.org', false],
    ['        ', false],
    ['🐎🐎🐎🐎🐎🐎🐎', true],
    ['🐎🐎🐎🐎🐎🐎🐎🐎', false],
    ['x'.repeat(128), false],
    ['x'.repeat(129), true],
    ['# Passwords of 8', false],
    ['harbourmaster', true],
    ['HarbourMaster', true],
    ['harbour master 1', true],
    ['harbourmaster123', true],
    ['Harbourmaster2026!', true],
    ['h4rb0urm@$ter', true],
    ['my-harbourmaster', true],
    ['harbourmasterharbourmaster', true],
    ['harbourmasterpassword', true],
    ['harbourmaster sleeps till noon', false],
    ['harbour lights', false],
  ] as const) {
    const check = () => refuseWeak(rules, 'new_password', password, 'Ada@example.com')
    if (!weak) assert.doesNotThrow(check, password)
    else {
      assert.throws(check, (error) => {
        assert.ok(error instanceof Problem && typeof error.detail !== 'string')
        assert.deepEqual([error.status, error.detail[0]?.loc], [422, ['body', 'new_password']])
        return true
      })
    }
  }
})
