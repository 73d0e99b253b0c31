// The samples of deploy/ for nginx and Caddy, run before a service as they stand: but for ports and
// certificates, and without IPv6. Skipped where the program is not installed.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'

const sample = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', 'deploy', name), 'utf8')
const has = (program: string) => spawnSync(program, ['-h'], { stdio: 'ignore' }).error === undefined

type Ports = { tls: number; plain: number; api: number; storefront: number }
/**
 * How many requests of an address may be under way without a credential; the sample's own number
 * where none is given.
 */
type Limits = { strangers?: number }

/** @returns the command that serves on `ports.tls`. */
const PROXIES: Record<
  string,
  (folder: string, ports: Ports, limits: Limits) => { check: string[]; serve: string[] }
> = {
  nginx(folder, ports, { strangers = 500 }) {
    const site = sample('nginx.conf')
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replace(/^(limit_conn \w+) 500;/m, `$1 ${strangers};`)
      .replaceAll('listen 443', `listen 127.0.0.1:${ports.tls}`)
      .replaceAll('listen 80;', `listen 127.0.0.1:${ports.plain};`)
      .replaceAll(/\/etc\/letsencrypt\/live\/[^/]+\/(\w+)\.pem/g, join(folder, '$1.pem'))
      .replaceAll('127.0.0.1:8000', `127.0.0.1:${ports.api}`)
      .replaceAll('127.0.0.1:8001', `127.0.0.1:${ports.storefront}`)
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const temps = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ')
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} http { access_log off; ${temps}\n${site}\n}`,
    )
    const command = ['nginx', '-p', folder, '-e', 'stderr', '-c', config]
    return { check: [...command, '-t'], serve: command }
  },

  caddy(folder, ports) {
    const site = sample('Caddyfile')
      .replaceAll(
        /^(\w+\.example\.com) \{/gm,
        `https://$1:${ports.tls} {\n\tbind 127.0.0.1\n\ttls ${join(folder, 'fullchain.pem')} ${join(folder, 'privkey.pem')}`,
      )
      .replaceAll('127.0.0.1:8000', `127.0.0.1:${ports.api}`)
      .replaceAll('127.0.0.1:8001', `127.0.0.1:${ports.storefront}`)
    const config = join(folder, 'Caddyfile')
    writeFileSync(config, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
    const options = ['--adapter', 'caddyfile', '--config', config]
    return { check: ['caddy', 'validate', ...options], serve: ['caddy', 'run', ...options] }
  },
}

for (const [program, prepare] of Object.entries(PROXIES)) {
  test(`${program} passes on whole requests, streams piece by piece, and the caller's own address`, {
    skip: ![program, 'openssl'].every(has) && `${program} or openssl is not installed`,
  }, async (t) => {
    const vendor = await mockVendor(t)
    const app = await testApp(t, {
      env: {
        ...vendor.env.openai,
        BASE_URL: 'https://app.example.com',
        STOREFRONT_URL: 'https://shop.example.com',
        SANDBOX: 'on',
        TRUST_PROXY: '1',
      },
    })
    const proxy = await startProxy(t, app, prepare)
    assert.equal((await proxy('app.example.com', 'GET', '/readyz')).status, 200)
    assert.match((await proxy('shop.example.com', 'GET', '/')).text, /<html/)
    for (const host of ['app', 'shop'])
      assert.equal((await proxy(`${host}.example.com`, 'GET', '/metrics')).status, 404, host)

    await app.as('ada', { tier: 'pro' })
    const forged = { 'x-forwarded-for': '203.0.113.66', 'x-real-ip': '203.0.113.66' }
    const credentials = JSON.stringify({ email: 'ada@example.com', password: PASSWORD })
    const token = await proxy('app.example.com', 'POST', '/api/auth/login', {
      body: credentials,
      headers: forged,
    })
    assert.equal(token.status, 200, token.text)
    const sessions = await app.platform.db.selectFrom('sessions').select('ip_address').execute()
    assert.deepEqual([...new Set(sessions.map(({ ip_address }) => ip_address))], ['127.0.0.1'])
    const authorization = `Bearer ${JSON.parse(token.text).access_token}`

    // The second piece is not sent before the first has arrived.
    const arrived = Promise.withResolvers<boolean>()
    let isEarly = false
    const piece = (content: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
    vendor.play(async (_call, reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece('first'))
      isEarly = await Promise.race([arrived.promise, wait(20_000, false)])
      reply.end(`${piece('second')}data: [DONE]\n\n`)
    })
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream: true })
    const stream = await proxy('app.example.com', 'POST', '/api/ai/chat', {
      body,
      headers: { authorization },
      onText: (text) => {
        if (text.includes('first')) arrived.resolve(true)
      },
    })
    assert.equal(stream.status, 200, stream.text)
    assert.equal(isEarly, true, 'the stream came at once, at its end')
    assert.match(stream.text, /first[\s\S]*second/)

    // Larger than what a proxy takes by default.
    const content = `${'A sentence about nothing in particular. '.repeat(80_000)}`
    const large = await proxy('app.example.com', 'POST', '/api/rag/search', {
      body: JSON.stringify({ query: content }),
      headers: { authorization },
    })
    assert.match(large.text, /"(detail|code)"/, 'the service itself says what is too much')
  })
}

test('nginx bounds the requests of an address without a credential, and no customer', {
  skip: !['nginx', 'openssl'].every(has) && 'nginx or openssl is not installed',
}, async (t) => {
  const app = await testApp(t, {
    env: { SANDBOX: 'on', TRUST_PROXY: '1', BASE_URL: 'https://app.example.com' },
  })
  const ada = await app.as('ada')
  const proxy = await startProxy(t, app, PROXIES.nginx as (typeof PROXIES)[string], {
    strangers: 2,
  })
  const more = Promise.withResolvers<void>()
  const login = () =>
    proxy('app.example.com', 'POST', '/api/auth/login', { body: '{}', until: more.promise })
  const held = [login(), login()]
  const status = async (headers: Record<string, string>) =>
    (await proxy('app.example.com', 'GET', '/api/users/me', { headers })).status
  let refused = 0
  for (let tries = 0; refused !== 429 && tries < 200; tries++) {
    refused = await status({})
    if (refused !== 429) await wait(20)
  }
  assert.equal(refused, 429)

  const headers = { authorization: `Bearer ${ada.token}` }
  const replies = await Promise.all(Array.from({ length: 10 }, () => status(headers)))
  assert.deepEqual([...new Set(replies)], [200])
  assert.equal(await status({ 'x-api-key': 'lk_none' }), 401, 'it reaches the service')
  more.resolve()
  for (const { status } of await Promise.all(held)) assert.equal(status, 422)
})

type Sent = {
  body?: string
  headers?: Record<string, string>
  onText?: (text: string) => void
  /** The body is not sent before. */
  until?: Promise<void>
}

async function startProxy(
  t: TestContext,
  app: TestApp,
  prepare: (typeof PROXIES)[string],
  limits: Limits = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-proxy-'))
  for (const kind of ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi', 'home'])
    mkdirSync(join(folder, kind))
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=example.com',
      '-addext',
      'subjectAltName=DNS:app.example.com,DNS:shop.example.com',
      '-keyout',
      join(folder, 'privkey.pem'),
      '-out',
      join(folder, 'fullchain.pem'),
    ],
    { stdio: 'ignore' },
  )
  const [tls = 0, plain = 0] = await freePorts(2)
  const { port: api, storefrontPort: storefront } = app.config.http
  const { check, serve } = prepare(folder, { tls, plain, api, storefront }, limits)
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home') }
  const checked = spawnSync(check[0] ?? '', check.slice(1), { env, encoding: 'utf8' })
  assert.equal(checked.status, 0, `${checked.stderr}${checked.stdout}`)

  const child = spawn(serve[0] ?? '', serve.slice(1), { env, stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    rmSync(folder, { recursive: true, force: true })
  })
  const send = (
    host: string,
    method: string,
    path: string,
    { body, headers = {}, onText, until }: Sent = {},
  ) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const type =
        body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }
      const options = {
        host: '127.0.0.1',
        port: tls,
        servername: host,
        rejectUnauthorized: false,
        method,
        path,
      }
      const asked = request(
        { ...options, headers: { host, ...type, ...headers } },
        async (response) => {
          let text = ''
          for await (const chunk of response) {
            text += chunk
            onText?.(text)
          }
          resolve({ status: response.statusCode ?? 0, text })
        },
      )
      asked.once('error', reject)
      if (until === undefined) asked.end(body)
      else {
        asked.flushHeaders()
        void until.then(() => asked.end(body))
      }
    })
  for (let tries = 0; tries < 200; tries++) {
    assert.equal(child.exitCode, null, 'the proxy ended')
    const up = await send('app.example.com', 'GET', '/healthz').catch(() => null)
    if (up?.status === 200) return send
    await wait(50)
  }
  throw new Error('the proxy does not answer')
}
