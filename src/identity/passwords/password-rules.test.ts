import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '#config/config.ts'
import { Problem } from '#platform/problem.ts'
import { refuseWeak, weakness } from './password-rules.ts'

test('weak passwords are refused, and the field is named', async () => {
  const rules = {
    config: readConfig({ PRODUCT_NAME: 'Harbour-Master' }),
    log: pino({ level: 'silent' }),
  }
  for (const [password, weak] of [
    ['short77', true],
    ['exactly8', false],
    ['password', true],
    ['PassWord', true],
    ['iloveyou', true],
    ['qwertyuiop', true],
    ['ada@example.com', true],
    ['ADA@Example.com', true],
    ['ada@example.org', true],
    ['ada at work, and at rest', false],
    ['example2026', true],
    ['        ', true],
    ['aaaaaaaa1', true],
    ['Password123!', true],
    ['Summer2026!', true],
    ['p4$$w0rd99', true],
    ['drowssap', true],
    ['dragondragon', true],
    ['letmein!!!!', true],
    ['2026sunshine', true],
    ['sunshine over the old harbour', false],
    ['harbour 20260101 quay', false],
    ['🐎🐎🐎🐎🐎🐎🐎', true],
    ['🐎🐖🐄🐎🐖🐄🐎🐖', false],
    ['xyzw'.repeat(32), false],
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
    if (!weak) await assert.doesNotReject(check, password)
    else {
      await assert.rejects(
        check,
        (error) => {
          assert.ok(error instanceof Problem && typeof error.detail !== 'string')
          assert.deepEqual([error.status, error.detail[0]?.loc], [422, ['body', 'new_password']])
          return true
        },
        password,
      )
    }
  }
})

test('what is made of the own address is refused, in any spelling', () => {
  const of = (password: string) =>
    weakness(password, { product: 'latchkey', email: 'grace.hopper@navy.example' })
  for (const password of [
    'gracehopper',
    'Hopper1906!',
    'h0pp3r-grace',
    'grace.hopper99',
    'latchkey.hopper',
  ]) {
    assert.match(of(password) ?? '', /address|name|common/, password)
  }
  assert.equal(of('grace under pressure, twice'), null)
  // All of its parts are too short to be looked for alone.
  assert.match(
    weakness('ad@ex.it', { product: 'latchkey', email: 'ad@ex.it' }) ?? '',
    /same as the email address/,
  )
})

test('what is made of the product’s name is refused, also where no address is known', () => {
  const of = (password: string) => weakness(password, { product: 'Harbour-Master', email: null })
  for (const password of ['harbourmaster1', 'H4rbour Master', 'my-harbourmaster']) {
    assert.match(of(password) ?? '', /the name Harbour-Master/, password)
  }
  assert.equal(of('harbour lights'), null)
})

test('almost no random password is mistaken for a common one', () => {
  const refused = Array.from({ length: 2_000 }, () => crypto.randomUUID().slice(0, 13)).filter(
    (password) => weakness(password, { product: 'latchkey', email: null }) !== null,
  )
  assert.ok(refused.length <= 12, `${refused}`)
})

test('breached passwords are looked up by five digits of a hash, and accepted while the list does not answer', async (t) => {
  const asked: string[] = []
  // SHA-1 of `a very private phrase`, and padding.
  const server = createServer((request, reply) => {
    asked.push(`${request.url} ${request.headers['add-padding']}`)
    const known = createHash('sha1')
      .update('a very private phrase')
      .digest('hex')
      .toUpperCase()
      .slice(5)
    const padding = createHash('sha1')
      .update('only padding here')
      .digest('hex')
      .toUpperCase()
      .slice(5)
    reply.end(`${'0'.repeat(35)}:3\r\n${known}:2\r\n${padding}:0`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const deps = { config: readConfig({ PWNED_PASSWORDS_URL: url }), log: pino({ level: 'silent' }) }
  await assert.rejects(refuseWeak(deps, 'password', 'a very private phrase', null), /breach/)
  await refuseWeak(deps, 'password', 'only padding here', null)
  await refuseWeak(deps, 'password', 'never seen before', null)
  // The request asks for padded replies, so their length does not reveal the password's range.
  assert.match(asked[0] ?? '', /^\/range\/[0-9A-F]{5} true$/)
  server.closeAllConnections()
  server.close()
  await refuseWeak(deps, 'password', 'a very private phrase', null)
})

test('a list of breached passwords that does not answer delays a request for at most its timeout', {
  timeout: 30_000,
}, async (t) => {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const deps = { config: readConfig({ PWNED_PASSWORDS_URL: url }), log: pino({ level: 'silent' }) }
  await refuseWeak(deps, 'password', 'a very private phrase', null)
})
