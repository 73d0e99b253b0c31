/**
 * Sets up a fresh service as its operator does, for the examples of these operations. Always on
 * SQLite, because a service on PostgreSQL stores no settings and replies with lines instead.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Examples } from '#app/examples.ts'
import { testApp } from './app.ts'
import { createRecorder } from './example-recorder.ts'
import { startMailServer } from './mail-server.ts'
import { mockVendor } from './mock-vendor.ts'
import { startStripeAccount, TEST_KEY } from './stripe-account.ts'

type Ends = Parameters<typeof testApp>[0]

export async function walkSetup(t: Ends): Promise<Examples['api']> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-setup-'))
  const [stripe, vendor, mail] = await Promise.all([
    startStripeAccount(t),
    mockVendor(t),
    startMailServer(),
  ])
  t.after(() => mail.stop())
  const app = await testApp(t, {
    worker: true,
    onData: { dataDir, databaseUrl: null },
    env: { DEBUG: 'true', STRIPE_API_BASE: stripe.url, OPENAI_BASE_URL: `${vendor.url}/v1` },
  })
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const recorder = await createRecorder(app)
  const { token } = await app.as('root', { superuser: true })
  const send = (method: string, part: string, body?: unknown) =>
    recorder.call('api', method, `/api/admin/setup${part}`, {
      body,
      headers: { authorization: `Bearer ${token}` },
    })

  await send('GET', '')
  await send('POST', '/payments', { secret_key: TEST_KEY })
  await send('POST', '/plans', {
    currency: 'usd',
    prices: [
      { tier: 'pro', interval: 'month', amount: 2_900 },
      { tier: 'pro', interval: 'year', amount: 29_000 },
    ],
  })
  await send('POST', '/models', { vendor: 'openai', api_key: 'sk-proj-of-your-account' })
  await send('POST', '/mail', {
    host: '127.0.0.1',
    port: Number(new URL(mail.url).port),
    encryption: 'starttls',
    from_name: 'Latchkey',
    from_address: 'hello@example.com',
  })
  await send('DELETE', '/mail')
  await send('DELETE', '/models?vendor=openai')
  await send('DELETE', '/payments')
  await send('POST', '/models', { vendor: 'openai', api_key: 'sk-proj-of-your-account' })
  await send('POST', '/restart')
  return recorder.examples.api
}
