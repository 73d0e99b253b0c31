// One route has many addresses (RFC 3986, section 6.2): each of them has the same limits, headers
// and shape of errors.
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'

const LIMITS = {
  RATE_LIMIT_GENERAL: '9001/60',
  RATE_LIMIT_AI: '9002/60',
  RATE_LIMIT_RAG: '9003/60',
  RATE_LIMIT_SIGNUP: '9004/60',
}

/** Ways to write an address that the router reads as the same one. */
const SAME: Record<string, (path: string, host: string) => string> = {
  'one letter encoded': (path) => `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  'every letter encoded': (path) =>
    path.replaceAll(/[a-z]/gi, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  'in absolute form': (path, host) => `http://${host}${path}`,
  'in absolute form, encoded': (path, host) =>
    `http://${host}/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  'with a query': (path) => `${path}?page=/x`,
}

/**
 * Headers that proxies, or clients posing as one, add; a service without configured proxies ignores
 * them.
 */
const PROXIED: Record<string, string>[] = [
  {
    'x-forwarded-for': '203.0.113.1, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
  },
  { forwarded: 'for=203.0.113.2;host=evil.example;proto=https', via: '1.1 evil.example' },
  {
    'x-real-ip': '203.0.113.3',
    'cf-connecting-ip': '203.0.113.3',
    'true-client-ip': '203.0.113.3',
  },
  { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz', 'x-forwarded-prefix': '/x' },
  {
    'x-http-method-override': 'GET',
    'x-forwarded-method': 'GET',
    'x-original-host': 'evil.example',
  },
]

/** Ways that lead to no route, and yet nowhere but to the API's own 404. */
const OTHER: Record<string, (path: string) => string> = {
  'with a doubled slash': (path) => `/${path}`,
  'with a doubled slash, encoded': (path) =>
    `//%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  'in capitals': (path) => path.toUpperCase(),
}

for (const server of ['api', 'storefront'] as const) {
  test(`every route of the ${server} has one limit and one policy, however its address is spelled`, async (t) => {
    const app = await testApp(t, { env: LIMITS })
    const routes = mounted(app, server)
    let tried = 0
    assert.ok(routes.length > (server === 'api' ? 60 : 6), `${routes.length} routes`)
    for (const { method, path } of routes) {
      const plain = seen(await send(app, server, method, path))
      assert.match(String(plain.limit), /^900[1-4]$/, `${method} ${path}`)
      assert.match(String(plain.policy), /no-store/, `${method} ${path}`)
      const [all, ...each] = [Object.assign({}, ...PROXIED), ...PROXIED]
      // Events of the processor that the sandbox plays come from this machine alone: through a
      // proxy they are refused.
      const isPlayed = path.endsWith('/webhook')
      const proxied = isPlayed ? { ...plain, status: 403 } : plain
      assert.deepEqual(
        seen(await send(app, server, method, path, all)),
        proxied,
        `${method} ${path} through proxies`,
      )
      for (const [index, [how, spell]] of Object.entries(SAME).entries()) {
        // Over all routes each spelling meets each proxy.
        const proxy = isPlayed ? {} : each[(index + tried++) % each.length]
        const spelled = await send(app, server, method, spell(path, '127.0.0.1'), proxy)
        assert.deepEqual(seen(spelled), plain, `${method} ${path} ${how}, ${JSON.stringify(proxy)}`)
      }
    }
  })

  test(`what no route of the ${server} answers is counted and shaped by where it points`, async (t) => {
    const app = await testApp(t, { env: LIMITS })
    for (const { method, path } of mounted(app, server)) {
      for (const [how, spell] of Object.entries(OTHER)) {
        const { status, headers, body } = await send(app, server, method, spell(path))
        assert.equal(status, 404, `${method} ${path} ${how}`)
        assert.equal(headers['ratelimit-limit'], '9001', `${method} ${path} ${how}`)
        assert.equal(headers['cache-control'], 'no-store', `${method} ${path} ${how}`)
        if (method !== 'HEAD') assert.match(body, shapeOf(server, path), `${method} ${path} ${how}`)
      }
    }
  })
}

function shapeOf(server: 'api' | 'storefront', path: string): RegExp {
  if (server === 'storefront') return /^{"error":"/
  if (path.startsWith('/v1/messages')) return /^{"type":"error","error":{/
  return path.startsWith('/v1') ? /^{"error":{/ : /^{"detail":"/
}

test('the general limit ends all spellings together', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '4/60' } })
  const paths = [
    '/%61pi/auth/verify-reset-token',
    'http://x/api/auth/verify-reset-token',
    '//api/auth/verify-reset-token',
    '/%E0%A4%A/../api',
    '/api/%E0%A4%A',
  ]
  const statuses = []
  const forged = () => ({
    ...PROXIED[statuses.length],
    'x-forwarded-for': `203.0.113.${statuses.length}`,
  })
  for (const path of paths) statuses.push((await send(app, 'api', 'POST', path, forged())).status)
  // The fourth is malformed and outside the API; the fifth is malformed and inside it.
  assert.deepEqual(statuses, [422, 422, 404, 400, 400])
  for (const path of [...paths.slice(0, 3), '/api/%E0%A4%A', '/API/nothing']) {
    const { status, headers } = await send(app, 'api', 'POST', path, {
      'x-forwarded-for': '203.0.113.99',
    })
    assert.equal(status, 429, path)
    assert.match(headers['retry-after'] as string, /^\d+$/, path)
  }
})

test('a malformed address is answered like any other: with an id, a policy and a count', async (t) => {
  const app = await testApp(t, { env: LIMITS })
  for (const server of ['api', 'storefront'] as const) {
    const { status, headers } = await send(app, server, 'GET', '/api/%E0%A4%A')
    assert.equal(status, 400)
    assert.match(headers['x-request-id'] as string, /^[0-9a-f-]{36}$/)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['ratelimit-limit'], '9001')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

/** Properties that must not depend on an address's spelling. */
function seen({ status, headers }: Answer) {
  return { status, limit: headers['ratelimit-limit'], policy: headers['cache-control'] }
}

/** The routes under /api and /v1, with parameters filled in. */
function mounted(app: TestApp, server: 'api' | 'storefront'): { method: string; path: string }[] {
  const above: string[] = []
  const routes: { method: string; path: string }[] = []
  for (const line of app.service[server]?.printRoutes({ commonPrefix: false }).split('\n') ?? []) {
    const [, indent = '', part = '', methods = ''] =
      /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
    const depth = indent.length / 4
    above.splice(depth, above.length, part)
    const path = above.join('').replaceAll('//', '/')
    if (!/^\/(api|v1)\//.test(path) || path.includes('*')) continue
    // A preflight has no caller and is not counted.
    for (const method of methods.split(', ').filter((name) => name !== '' && name !== 'OPTIONS')) {
      routes.push({ method, path: path.replaceAll(/:\w+/g, '0') })
    }
  }
  return routes
}

type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

/** By Node's own client, since fetch would write every address in one way. */
function send(
  app: TestApp,
  server: 'api' | 'storefront',
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const port = server === 'api' ? app.config.http.port : app.config.http.storefrontPort
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
    })
      .once('error', reject)
      .end()
  })
}
