/**
 * Calls every row of the specification through a client that openapi-typescript has typed and
 * openapi-fetch sends. Prints each reply on a line. The compiler checks here the types that an
 * integrator would see.
 */
import { createHmac, randomUUID } from 'node:crypto'
import createClient, { type ClientOptions } from 'openapi-fetch'
import type { components, paths } from './generated/api.d.ts'
import type { paths as StorefrontPaths } from './generated/storefront.d.ts'

const { API_URL = '', STOREFRONT_URL = '', SUPERUSER_TOKEN = '' } = process.env
const { WEBHOOK_SECRET = '', STOREFRONT_WEBHOOK_SECRET = '' } = process.env
const PASSWORD = 'a long enough password'
const cookies: Record<string, string> = {}
const email = `typescript-${Date.now()}@example.com`

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const createApi = (token: string) =>
  createClient<paths>({ ...buildOptions(API_URL), headers: bearer(token) })

const anyone = createClient<paths>(buildOptions(API_URL))
const superuser = createApi(SUPERUSER_TOKEN)
const storefront = createClient<StorefrontPaths>(buildOptions(STOREFRONT_URL))

const user = ok(
  await anyone.POST('/api/auth/register', {
    body: { email, password: PASSWORD, full_name: 'Ada' },
  }),
)
ok(
  await anyone.POST('/api/auth/verify-email', {
    body: { token: await mailedToken('/verify-email') },
  }),
)
ok(await anyone.POST('/api/auth/resend-verification', { body: { email } }))
ok(await anyone.POST('/api/auth/forgot-password', { body: { email } }))
const token = await mailedToken('/reset-password')
ok(await anyone.POST('/api/auth/verify-reset-token', { body: { token } })).valid satisfies boolean
ok(await anyone.POST('/api/auth/reset-password', { body: { token, new_password: PASSWORD } }))
const signedIn = ok(await anyone.POST('/api/auth/login', { body: { email, password: PASSWORD } }))
const { access_token } = ok(
  await anyone.POST('/api/auth/refresh', { body: { refresh_token: signedIn.refresh_token } }),
)
const ada = createApi(access_token)
ok(await ada.POST('/api/auth/logout'))
ok(await ada.GET('/api/auth/me')).subscription_status satisfies
  | 'free'
  | 'active'
  | 'cancelled'
  | 'past_due'

const started = ok(
  await anyone.GET('/api/auth/oauth/{provider}', { params: { path: { provider: 'google' } } }),
)
const query = await chooseAccount(started.authorization_url)
const finished = await anyone.GET('/api/auth/callback/{provider}', {
  params: { path: { provider: 'google' }, query },
})
check(
  finished.response.headers.get('location')?.includes('access_token='),
  'the callback leads to the app with tokens',
)

ok(await ada.GET('/api/users/me'))
ok(await ada.PATCH('/api/users/me', { body: { full_name: 'Ada King', avatar_url: null } }))
json(ok(await ada.GET('/api/users/me/export'))).exported_at satisfies string

const plans = ok(await anyone.GET('/api/billing/plans')).plans
const price_id = plans.find((plan) => plan.price_monthly)?.price_monthly ?? ''
ok(await ada.POST('/api/billing/create-checkout-session', { params: { query: { price_id } } }))
  .url satisfies string
ok(await ada.POST('/api/billing/create-portal-session'))
ok(await ada.GET('/api/billing/subscription')).processor_customer_id satisfies string | null
const invoice = event('invoice.finalized', { id: 'in_1', object: 'invoice' })
ok(
  await anyone.POST('/api/billing/webhook', {
    params: { header: { 'stripe-signature': signature(invoice, WEBHOOK_SECRET) } },
    body: invoice,
  }),
).received satisfies boolean

ok(
  await superuser.PATCH('/api/admin/users/{id}', {
    params: { path: { id: user.id } },
    body: { subscription_tier: 'pro' },
  }),
)
ok(await superuser.GET('/api/admin/stats')).total_users satisfies number
ok(await superuser.GET('/api/admin/users', { params: { query: { limit: 2 } } }))
  .pages satisfies number

const issued = ok(await ada.POST('/api/api-keys', { body: { name: 'laptop' } }))
const path = { key_id: issued.id }
ok(await ada.PATCH('/api/api-keys/{key_id}', { params: { path, query: { name: 'desktop' } } }))
const [listed] = ok(await ada.GET('/api/api-keys'))
check(listed?.name === 'desktop', 'the key has its new name')

const program = createApi(issued.key)
const messages: components['schemas']['ChatMessage'][] = [{ role: 'user', content: 'Say hello.' }]
json(ok(await program.POST('/api/ai/chat', { body: { messages } }))).usage
  .total_tokens satisfies number
const stream = await program.POST('/api/ai/chat', {
  body: { messages, stream: true },
  parseAs: 'text',
})
check(String(stream.data).endsWith('data: [DONE]\n\n'), 'a stream has its end')
ok(await program.POST('/api/ai/completions', { body: { prompt: 'Say hello.' } }))
  .completion satisfies string

const content = 'The lighthouse was built by Amélie Duroc in 1882.'
ok(await program.POST('/api/rag/ingest/text', { body: { content, metadata: { place: 'coast' } } }))
const file = new File([`${content} It burns oil.`], 'lighthouse.txt')
const ingested = ok(
  await program.POST('/api/rag/ingest/file', {
    // openapi-typescript types `format: binary` as a string, so forms with bytes need a cast.
    body: { file: file as never },
    bodySerializer(form) {
      const data = new FormData()
      data.set('file', form.file as never)
      return data
    },
  }),
)
if (!('document_ids' in ingested)) throw new Error('the reply is a job, but none was requested')
ok(await program.POST('/api/rag/search', { body: { query: 'Who built it?' } })).results[0]
  ?.score satisfies number | undefined
json(ok(await program.POST('/api/rag/query', { body: { question: 'Who built the lighthouse?' } })))
  .answer satisfies string
ok(
  await program.DELETE('/api/rag/documents/{document_id}', {
    params: { path: { document_id: ingested.document_ids[0] ?? '' } },
  }),
)
ok(await ada.DELETE('/api/api-keys/{key_id}', { params: { path } }))
const refused = await program.POST('/api/ai/chat', { body: { messages } })
check(refused.error?.code === 'unauthenticated', 'a refusal has a code that the types know')

ok(
  await ada.POST('/api/users/me/change-password', {
    body: { current_password: PASSWORD, new_password: `${PASSWORD}!` },
  }),
)
const moved = { new_email: `new-${email}`, password: `${PASSWORD}!` }
ok(await ada.POST('/api/users/me/change-email', { body: moved }))

ok(
  await storefront.POST('/api/session', {
    body: { email: moved.new_email, password: moved.password },
  }),
)
const checkout = await storefront.GET('/api/checkout', { params: { query: { tier: 'pro' } } })
check(checkout.response.status === 302, 'the checkout leads to the hosted page')
const paid = event('checkout.session.completed', paidSession(user.id))
ok(
  await storefront.POST('/api/processor/webhook', {
    params: { header: { 'stripe-signature': signature(paid, STOREFRONT_WEBHOOK_SECRET) } },
    body: paid,
  }),
)
const archive = await storefront.GET('/api/download', { parseAs: 'arrayBuffer' })
check((archive.data as ArrayBuffer | undefined)?.byteLength, 'the archive has bytes')
ok(await storefront.GET('/api/download/history'))[0]?.downloaded_at satisfies string | undefined
ok(
  await storefront.POST('/api/contact', {
    body: { name: 'Ada', email, subject: 'sales', message: 'Do you ship to the coast?' },
  }),
).success satisfies boolean

ok(await ada.DELETE('/api/users/me', { body: { password: moved.password } }))

/**
 * Adds to the typed client: one base address, no redirects, and a cookie jar for the storefront.
 */
function buildOptions(baseUrl: string): ClientOptions {
  return {
    baseUrl,
    redirect: 'manual',
    async fetch(request) {
      const jar = Object.entries(cookies).map(([name, value]) => `${name}=${value}`)
      if (jar.length > 0) request.headers.set('cookie', jar.join('; '))
      const response = await fetch(request)
      for (const line of response.headers.getSetCookie()) {
        const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? []
        cookies[name] = value
      }
      const { pathname } = new URL(request.url)
      console.log(
        JSON.stringify({
          server: baseUrl,
          method: request.method,
          path: pathname,
          status: response.status,
        }),
      )
      return response
    },
  }
}

/** @throws Error with the status and body of a failed reply */
function ok<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined)
    throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`)
  return data
}

/** Narrows the reply of an operation that may also answer with a stream or a file. */
function json<T>(data: T): Exclude<T, string> {
  return data as Exclude<T, string>
}

function check(fact: unknown, what: string): void {
  if (!fact) throw new Error(`check failed: ${what}`)
}

async function mailedToken(page: string): Promise<string> {
  for (let tries = 0; tries < 50; tries++) {
    const reply = await fetch(`${API_URL}/sandbox/mail.json?to=${encodeURIComponent(email)}`)
    const letters = (await reply.json()) as { links: string[] }[]
    const link = letters.flatMap(({ links }) => links).find((one) => one.includes(page))
    if (link) return new URL(link).searchParams.get('token') ?? ''
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`no email links to ${page}`)
}

/** Chooses an account on the provider's page. */
async function chooseAccount(address: string): Promise<Record<string, string>> {
  const { searchParams, pathname } = new URL(address)
  for (const [name, value] of Object.entries({
    email: `olga-${email}`,
    name: 'Olga',
    verified: 'yes',
  }))
    searchParams.set(name, value)
  const reply = await fetch(`${API_URL}${pathname}`, {
    method: 'POST',
    body: searchParams,
    redirect: 'manual',
  })
  return Object.fromEntries(new URL(reply.headers.get('location') ?? '').searchParams)
}

function event(type: string, object: Record<string, unknown>) {
  return { id: `evt_${randomUUID()}`, type, data: { object } }
}

function signature(body: object, secret: string): string {
  const time = Math.floor(Date.now() / 1_000)
  return `t=${time},v1=${createHmac('sha256', secret)
    .update(`${time}.${JSON.stringify(body)}`)
    .digest('hex')}`
}

function paidSession(user_id: string) {
  const id = randomUUID().replaceAll('-', '')
  return {
    id: `cs_test_${id}`,
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    payment_intent: `pi_${id}`,
    amount_total: 29_900,
    currency: 'usd',
    customer_details: { email },
    metadata: { user_id, tier: 'pro' },
  }
}
