// Hostile fields of a mail server, and servers that are none.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { settingsPath } from '#config/settings-file.ts'
import { testApp } from '#testing/app.ts'
import { buildMailSettings } from './mail.ts'

const MAIL = {
  host: '127.0.0.1',
  port: 1,
  encryption: 'starttls',
  from_address: 'hello@example.com',
}
/** A server that is not a mail server, and what came to it. */
async function startBanner(t: TestContext, banner: string) {
  const sockets = new Set<Socket>()
  const received: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', (bytes) => received.push(bytes.toString()))
    socket.write(banner)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, received }
}

test('no field of a mail server adds options, headers or another recipient to the client', async (t) => {
  const app = await testApp(t, { worker: true })
  const root = await app.as('root', { superuser: true })
  const hostile = [
    // Options of the client: `sendmail` would start the program at `path`.
    { host: 'mail.example.com/?sendmail=true&path=/bin/sh' },
    { host: 'mail.example.com?tls.rejectUnauthorized=false' },
    { host: 'user:secret@mail.example.com' },
    { host: 'mail.example.com\r\nMAIL FROM:<x@y>' },
    { host: '' },
    { port: 0 },
    { port: 70_000 },
    { encryption: 'none' },
    { from_address: 'a@example.com>, <b@example.com' },
    { from_address: 'a@example.com\r\nBcc: b@example.com' },
    { from_name: 'Zebra\r\nBcc: b@example.com' },
    { from_name: 'Zebra <x@y.z>, Lion' },
    { from_name: 'Zebra # a comment' },
    { user: 'a\r\nRCPT TO:<b@example.com>' },
    { password: '' },
  ]
  for (const field of hostile) {
    const reply = await root.post('/api/admin/setup/mail', { ...MAIL, ...field })
    assert.equal(reply.status, 422, JSON.stringify(field))
    assert.equal(reply.body.code, 'validation_failed', JSON.stringify(field))
  }
})

test('credentials of any characters stay credentials in the address of the mail server', () => {
  const { SMTP_URL } = buildMailSettings({
    host: 'mail.example.com',
    port: 587,
    encryption: 'starttls',
    user: 'a@b:c/?sendmail=true#',
    password: '@evil.example.com/%00&path=/bin/sh',
    fromAddress: 'a@example.com',
  })
  const url = new URL(SMTP_URL ?? '')
  assert.equal(url.host, 'mail.example.com:587')
  assert.equal(url.search, '?requireTLS=true')
  assert.equal(url.hash, '')
  assert.equal(decodeURIComponent(url.username), 'a@b:c/?sendmail=true#')
  assert.equal(decodeURIComponent(url.password), '@evil.example.com/%00&path=/bin/sh')
})

test('other services than mail servers are neither read nor given a command', async (t) => {
  const app = await testApp(t, { worker: true })
  const root = await app.as('root', { superuser: true })
  for (const banner of [
    '-ERR the secret of a Redis\r\n',
    'HTTP/1.1 400 the secret of a page\r\n\r\n',
  ]) {
    const { port, received } = await startBanner(t, banner)
    const reply = await root.post('/api/admin/setup/mail', { ...MAIL, port })
    assert.equal(reply.body.code, 'test_email_failed', reply.text)
    assert.doesNotMatch(reply.text, /secret/)
    assert.doesNotMatch(received.join(''), /AUTH|MAIL FROM|DATA/)
  }
  const refusing = await startBanner(t, '554 5.7.1 Your network is blocked\r\n')
  const reply = await root.post('/api/admin/setup/mail', { ...MAIL, port: refusing.port })
  assert.match(reply.body.detail, /554 5\.7\.1 Your network is blocked/)
  assert.equal(existsSync(settingsPath(app.dataDir)), false)
})
