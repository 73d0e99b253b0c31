// Runs the main path over HTTP as a new customer, and prints replies and durations. It uses no code
// of the service, so it shows what a customer gets.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Context } from './context.ts'
import { findFreePorts } from './free-ports.ts'
import { openArchive } from './tour/archive.ts'
import { call, stream, until } from './tour/client.ts'
import { pay } from './tour/hosted-page.ts'

/** Entitlements that the tour needs. */
const NEEDED = ['ai', 'rag', 'api_keys']
type OfferedPlan = { name: string; tier: string; price_monthly?: string; grants: string[] }

type Places = { api: string; store: string }

export async function run(args: string[], { print }: Context): Promise<number> {
  const { file, url, store, question } = options(args)
  const service = url ? null : await startService(print)
  const places: Places = service ?? { api: url ?? '', store: store ?? '' }
  try {
    await walk(places, file, question, print)
    return 0
  } finally {
    await service?.stop()
  }
}

export const USAGE =
  'Usage: npm run tour -- [FILE.pdf|.docx|.txt|.md] [--question TEXT] [--url API --storefront STOREFRONT]'

function options(args: string[]) {
  const found: { file?: string; url?: string; store?: string; question?: string } = {}
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--url') found.url = args[++index]?.replace(/\/$/, '')
    else if (arg === '--storefront') found.store = args[++index]?.replace(/\/$/, '')
    else if (arg === '--question') found.question = args[++index]
    else if (arg.startsWith('-')) throw new Error(`unknown option ${arg}\n${USAGE}`)
    else found.file = arg
  }
  if (found.url && !found.store) {
    const address = new URL(found.url)
    address.port = String(Number(address.port || 80) + 1)
    found.store = address.origin
  }
  return found
}

async function walk(
  places: Places,
  file: string | undefined,
  asked: string | undefined,
  print: Context['print'],
) {
  const step = stepper(print)
  const account = await openAccount(step, places)
  const key = await subscribe(step, places, account)
  await askModels(step, places, key, file, asked)
  await buyProduct(step, places, account)
  print('\n  Tour completed.')
}

async function openAccount(step: StepRunner, { api }: Places): Promise<Account> {
  const email = `tour-${randomBytes(4).toString('hex')}@example.com`
  const password = randomBytes(12).toString('base64url')

  await step('Register', async () => {
    const { body } = await call(
      'POST',
      `${api}/api/auth/register`,
      { json: { email, password, full_name: 'Tour Guest' } },
      [201],
    )
    return `${body.email}, verified: ${body.is_verified}`
  })

  await step('Verify with the emailed link', async () => {
    const link = await mailedLink(api, email, '/verify-email')
    const { body } = await call('POST', `${api}/api/auth/verify-email`, {
      json: { token: link.searchParams.get('token') },
    })
    return String(body.message)
  })

  const token = await step('Log in', async (show) => {
    const { body } = await call('POST', `${api}/api/auth/login`, { json: { email, password } })
    show(
      `an access token for 30 minutes, tier ${(body.user as { subscription_tier: string }).subscription_tier}`,
    )
    return String(body.access_token)
  })
  return { email, password, token }
}

/** Subscribes and returns a new API key. */
async function subscribe(step: StepRunner, { api }: Places, { token }: Account): Promise<string> {
  const { body: offered } = await call('GET', `${api}/api/billing/plans`)
  const plan = (offered.plans as OfferedPlan[]).find(
    ({ price_monthly, grants }) => price_monthly && NEEDED.every((one) => grants.includes(one)),
  )
  await step(`Buy ${plan?.name ?? 'a plan'}`, async () => {
    if (!plan?.price_monthly) throw new Error(`no monthly plan grants ${NEEDED.join(', ')}`)
    const { body } = await call(
      'POST',
      `${api}/api/billing/create-checkout-session?price_id=${encodeURIComponent(plan.price_monthly)}`,
      { bearer: token },
    )
    await pay(String(body.url))
    const tier = await until(async () => {
      const { body: subscription } = await call('GET', `${api}/api/billing/subscription`, {
        bearer: token,
      })
      return subscription.tier === plan.tier ? subscription : null
    }, 'the subscription to become active')
    return `status ${tier.status}, tier ${tier.tier}`
  })

  return step('Make an API key', async (show) => {
    const { body } = await call(
      'POST',
      `${api}/api/api-keys`,
      { bearer: token, json: { name: 'tour' } },
      [201],
    )
    show(`${body.key_prefix}…, shown once`)
    return String(body.key)
  })
}

async function askModels(
  step: StepRunner,
  { api }: Places,
  key: string,
  file: string | undefined,
  asked: string | undefined,
): Promise<void> {
  const document = file ?? join(import.meta.dirname, 'tour', 'handbook.md')
  await step(`Ingest ${basename(document)}`, async () => {
    const form = new FormData()
    form.set('file', new Blob([readFileSync(document)]), basename(document))
    const { body } = await call('POST', `${api}/api/rag/ingest/file`, { bearer: key, form })
    return `${body.chunks_created} chunks`
  })

  const question =
    asked ??
    (file ? await pickQuestion(api, key) : 'What must the laser cutter never cut, and why?')
  await step('Search', async () => {
    const { body } = await call('POST', `${api}/api/rag/search`, {
      bearer: key,
      json: { query: question, top_k: 3 },
    })
    const results = body.results as { score: number; content: string }[]
    return results
      .map((result) => `\n      ${result.score.toFixed(3)}  ${excerpt(result.content)}`)
      .join('')
  })

  await step(`Ask: ${question}`, async () => {
    const answer = await stream(
      `${api}/api/rag/query`,
      key,
      { question, stream: true, include_sources: true },
      () => {},
    )
    if (answer.sources.length === 0) throw new Error('the answer has no sources')
    const cited = citedShare(answer.text, answer.sources)
    return `\n      ${answer.text.trim().replaceAll('\n', '\n      ')}\n      (${answer.pieces} pieces, the first after ${Math.round(answer.firstMs)} ms; ${answer.sources.length} sources, ${cited})`
  })

  await step('Chat', async () => {
    const { body } = await call('POST', `${api}/api/ai/chat`, {
      bearer: key,
      json: { messages: [{ role: 'user', content: 'Say hello to a newcomer in one sentence.' }] },
    })
    return `${body.model}: ${excerpt(String(body.content))}`
  })
}

async function buyProduct(
  step: StepRunner,
  { store }: Places,
  { email, password }: Account,
): Promise<void> {
  const cookie = await step('Sign in to the storefront', async (show) => {
    const reply = await call('POST', `${store}/api/session`, { json: { email, password } })
    show('with the same account')
    return (reply.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
  })

  await step('Buy the product', async () => {
    const { text: prices } = await call('GET', `${store}/pricing`, { cookie })
    const page = /href="(\/products\/[\w-]+)"/.exec(prices)?.[1]
    const { text: product } = page ? await call('GET', `${store}${page}`, { cookie }) : { text: '' }
    const tier = /name="tier" value="([\w-]+)"/.exec(product)?.[1]
    if (!tier) throw new Error('the storefront has no product for sale')
    const reply = await call('GET', `${store}/api/checkout?tier=${tier}`, { cookie }, [302, 303])
    await pay(reply.headers.get('location') ?? '')
    const purchase = await until(async () => {
      const { text } = await call('GET', `${store}/api/purchases`, { cookie })
      return (
        (JSON.parse(text) as { tier: string; status: string; license_key_masked: string }[])[0] ??
        null
      )
    }, 'the purchase to arrive')
    return `${purchase.tier}, ${purchase.status}, key ${purchase.license_key_masked}`
  })

  await step('Download the encrypted ZIP and open it', async () => {
    const reply = await call('GET', `${store}/api/download`, { cookie })
    const license = reply.headers.get('x-license-key') ?? ''
    const { by, files } = await openArchive(reply.bytes, license)
    return `${reply.bytes.length.toLocaleString('en')} bytes, opened by ${by} with the license key: ${files.length} files, ${files.slice(0, 3).join(', ')}…`
  })
}

type Account = { email: string; password: string; token: string }
type StepRunner = ReturnType<typeof stepper>

/**
 * Prints a step's outcome and its time. The work returns its text, or shows it and returns a value.
 */
function stepper(print: Context['print']) {
  let number = 0
  return async (
    name: string,
    work: (show: (text: string) => void) => Promise<string>,
  ): Promise<string> => {
    const started = performance.now()
    const shown: string[] = []
    let result: string
    try {
      result = await work((text) => void shown.push(text))
    } catch (error) {
      print(`  ${String(++number).padStart(2)}. ${name}: FAILED`)
      throw error
    }
    const ms = Math.round(performance.now() - started)
    print(`  ${String(++number).padStart(2)}. ${name}  [${ms} ms]  ${shown[0] ?? result}`)
    return result
  }
}

async function mailedLink(api: string, to: string, path: string): Promise<URL> {
  return until(async () => {
    const { text } = await call('GET', `${api}/sandbox/mail.json?to=${encodeURIComponent(to)}`)
    const links = (JSON.parse(text) as { links: string[] }[]).flatMap((mail) => mail.links)
    const link = links.find((candidate) => new URL(candidate).pathname === path)
    return link ? new URL(link) : null
  }, `an email with a link to ${path}`)
}

/** Builds a question from the longest sentence of a passage at the document's beginning. */
async function pickQuestion(api: string, key: string): Promise<string> {
  const { body } = await call('POST', `${api}/api/rag/search`, {
    bearer: key,
    json: { query: 'abstract introduction summary overview', top_k: 1 },
  })
  const content = (body.results as { content: string }[])[0]?.content ?? ''
  const sentences = content.replace(/\s+/g, ' ').split(/(?<=[.!?])\s+/)
  const telling =
    sentences
      .filter((sentence) => sentence.length > 50 && sentence.length < 220)
      .sort((a, b) => b.length - a.length)[0] ?? content.slice(0, 150)
  return `What does the document say about this: ${telling.replace(/[.!?]+$/, '')}?`
}

/** Returns the share of the answer's quoted sentences that occur verbatim in the sources. */
function citedShare(answer: string, sources: { content: string }[]): string {
  const flat = (text: string) => text.replace(/\s+/g, ' ').trim()
  const haystack = sources.map((source) => flat(source.content)).join(' ')
  // Citations and the sandbox's signature are not quotations.
  const sentences = flat(answer.replace(/\[\d+\]/g, '').replace(/— Sandbox model:.*$/s, ''))
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.replace(/^[\s"“„*>-]+|[\s"”*]+$/g, ''))
    .filter((sentence) => sentence.length > 30)
  const found = sentences.filter((sentence) => haystack.includes(sentence.replace(/[.!?]+$/, '')))
  return `${found.length} of its ${sentences.length} sentences quote them verbatim`
}

function excerpt(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  return flat.length > 110 ? `${flat.slice(0, 107)}…` : flat
}

/** Starts a separate service on free ports and a temporary folder. */
async function startService(print: Context['print']): Promise<Places & { stop(): Promise<void> }> {
  const started = performance.now()
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-tour-'))
  const [port, storePort] = await findFreePorts()
  const main = join(import.meta.dirname, '..', '..', 'latchkey.js')
  const child = spawn(process.execPath, ['--max-semi-space-size=8', main], {
    // Settings of this shell or of a `.env` file must not change the tour.
    cwd: dataDir,
    env: {
      PATH: '/usr/bin:/bin',
      PORT: String(port),
      STOREFRONT_PORT: String(storePort),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const api = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error('the service did not start')
    const alive = await fetch(`${api}/healthz`)
      .then((response) => response.ok)
      .catch(() => false)
    if (alive) break
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  print(`  Started a temporary service in ${Math.round(performance.now() - started)} ms: ${api}\n`)
  return {
    api,
    store: `http://127.0.0.1:${storePort}`,
    async stop() {
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
