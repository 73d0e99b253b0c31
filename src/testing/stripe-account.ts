// The part of Stripe's API that a setup calls: the account of a key, its webhook endpoints and
// prices. It knows two keys, and records what was created.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export const TEST_KEY = 'sk_test_51SetupKeyOfTests'
/** May read, and create nothing. */
export const READ_ONLY_KEY = 'rk_test_51ReadOnlyKeyOfTests'

type Endpoint = { id: string; url: string; status: string; enabled_events: string[] }
type Price = { id: string; product: string } & Record<string, string>

export async function startStripeAccount(t: Pick<TestContext, 'after'>) {
  const state = {
    endpoints: [] as Endpoint[],
    prices: [] as Price[],
    /** Keys that callers used. */
    keys: new Set<string>(),
  }
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
    const key = (request.headers.authorization ?? '').replace('Bearer ', '')
    state.keys.add(key)
    const { status, body } = answer(state, key, `${request.method} ${request.url}`, form)
    reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { ...state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function answer(
  { endpoints, prices }: { endpoints: Endpoint[]; prices: Price[] },
  key: string,
  call: string,
  form: Record<string, string>,
): { status: number; body: object } {
  const refuse = (status: number, message: string) => ({
    status,
    body: { error: { type: 'invalid_request_error', message } },
  })
  if (key !== TEST_KEY && key !== READ_ONLY_KEY)
    return refuse(401, `Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}`)
  const [path = ''] = call.split('?')
  if (path === 'GET /v1/account') {
    const settings = { dashboard: { display_name: 'Zebra Ltd' } }
    return {
      status: 200,
      body: { id: 'acct_1', object: 'account', country: 'DE', charges_enabled: true, settings },
    }
  }
  if (path === 'GET /v1/webhook_endpoints')
    return { status: 200, body: { object: 'list', data: endpoints, has_more: false } }
  const price = prices.find(({ id }) => path === `GET /v1/prices/${id}`)
  if (price) return { status: 200, body: price }
  if (key === READ_ONLY_KEY) return refuse(403, 'This key may not do that.')
  if (path === 'POST /v1/webhook_endpoints') {
    const events = Object.entries(form).filter(([name]) => name.startsWith('enabled_events'))
    const endpoint = {
      id: `we_${endpoints.length + 1}`,
      url: form.url ?? '',
      status: 'enabled',
      enabled_events: events.map(([, type]) => type),
    }
    endpoints.push(endpoint)
    return { status: 200, body: { ...endpoint, secret: `whsec_${endpoint.id}_secret` } }
  }
  const endpoint = endpoints.find(({ id }) => path === `POST /v1/webhook_endpoints/${id}`)
  if (endpoint && form.disabled === 'true') {
    endpoint.status = 'disabled'
    return { status: 200, body: endpoint }
  }
  if (path === 'POST /v1/prices') {
    const id = `price_${prices.length + 1}`
    const created = { ...form, id, product: form.product ?? `prod_${id}` }
    prices.push(created)
    return { status: 200, body: created }
  }
  return refuse(404, `Unrecognized request URL (${path})`)
}
