// Measures a buyer's first and next download of a large file, and a range, a HEAD and the dashboard
// for a release of 10,000 files. Reference values in the same run: the next download is compared
// with the first, a small range with GET /healthz.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paidSession, signed } from '#testing/buyer.ts'
import { type RunningService, signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const description =
  'CPU and wall time of downloads: a buyer’s first and next, ranges, HEAD and dashboard with 10,000 files'

const SECRET = 'whsec_bench'
const LARGE_MB = 300
const FILES = 10_000
const ROUNDS = 10
/** Clock tick of Linux's /proc. */
const TICK_MS = 10

type Cost = { what: string; cpuMs: number; wallMs: number }

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-downloads-'))
  const service = await startService({
    PRODUCTS_DIR: products(root),
    STRIPE_STOREFRONT_WEBHOOK_SECRET: SECRET,
    RATE_LIMIT_GENERAL: 'off',
  })
  try {
    const shop = `http://127.0.0.1:${service.storefrontPort}`
    await large(service, shop)
    await many(service, shop)
  } finally {
    await service.stop()
    rmSync(root, { recursive: true, force: true })
  }
}

async function large(service: RunningService, shop: string) {
  // The first buyer packs the release; these are later buyers.
  await download(shop, await buyer(service, shop, 'basic'))
  const costs: Cost[] = []
  for (let round = 1; round <= 3; round++) {
    const cookie = await buyer(service, shop, 'basic')
    costs.push(await cost(service, `buyer ${round}, whole`, () => download(shop, cookie)))
    // Downloads the whole file again; resumed downloads are not counted.
    costs.push(
      await cost(service, `buyer ${round}, resumed from byte 1`, () =>
        download(shop, cookie, 'bytes=1-'),
      ),
    )
  }
  printTable(
    `One stored file of ${LARGE_MB} MB`,
    ['download', 'CPU ms', 'wall ms', 'MB per CPU s'],
    costs.map(({ what, cpuMs, wallMs }) => [
      what,
      cpuMs,
      wallMs.toFixed(0),
      ((LARGE_MB / cpuMs) * 1000).toFixed(0),
    ]),
  )
}

async function many(service: RunningService, shop: string) {
  const cookie = await buyer(service, shop, 'pro')
  await download(shop, cookie)
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${shop}${path}`, { ...init, headers: { cookie, ...init.headers } }).then((reply) =>
      reply.arrayBuffer(),
    )
  const requests: [string, () => Promise<unknown>][] = [
    ['GET /healthz', () => get('/healthz')],
    ['a range of 100 bytes', () => get('/api/download', { headers: { range: 'bytes=1000-1099' } })],
    ['HEAD', () => get('/api/download', { method: 'HEAD' })],
    ['the dashboard', () => get('/dashboard')],
  ]
  const rows: (string | number)[][] = []
  for (const [what, ask] of requests) {
    const costs: Cost[] = []
    for (let round = 0; round < ROUNDS; round++) costs.push(await cost(service, what, ask))
    const of = (name: 'cpuMs' | 'wallMs') =>
      quantile(
        costs.map((one) => one[name]).sort((a, b) => a - b),
        0.5,
      )
    rows.push([what, of('cpuMs'), of('wallMs').toFixed(1)])
  }
  printTable(
    `A release of ${FILES.toLocaleString('en')} small files, medians of ${ROUNDS} requests`,
    ['request', 'CPU ms', 'wall ms'],
    rows,
  )
}

/**
 * CPU of all threads of the service until a moment after the reply, to include work that continues
 * after it.
 */
async function cost(
  service: RunningService,
  what: string,
  work: () => Promise<unknown>,
): Promise<Cost> {
  const before = cpuMs(service)
  const started = performance.now()
  await work()
  const wallMs = performance.now() - started
  let cpu = cpuMs(service)
  for (let calm = 0; calm < 3; ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const now = cpuMs(service)
    calm = now - cpu <= TICK_MS ? calm + 1 : 0
    cpu = now
  }
  return { what, cpuMs: cpu - before, wallMs }
}

function cpuMs({ child }: RunningService): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function buyer({ url }: RunningService, shop: string, tier: string): Promise<string> {
  const { email, password, userId } = await signUp(url, `${randomUUID()}@example.com`)
  const json = { 'content-type': 'application/json' }
  const session = await fetch(`${shop}/api/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email, password }),
  })
  const event = {
    id: `evt_${randomUUID()}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: { object: paidSession(userId, tier) },
  }
  const body = JSON.stringify(event)
  const headers = { ...json, 'stripe-signature': signed(body, SECRET) }
  const webhookReply = await fetch(`${shop}/api/processor/webhook`, {
    method: 'POST',
    headers,
    body,
  })
  if (!session.ok || !webhookReply.ok)
    throw new Error(`creating a buyer failed: ${session.status}, ${webhookReply.status}`)
  return (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

async function download(shop: string, cookie: string, range?: string) {
  const reply = await fetch(`${shop}/api/download`, {
    headers: { cookie, ...(range ? { range } : {}) },
  })
  if (!reply.ok) throw new Error(`a download failed: ${reply.status} ${await reply.text()}`)
  for await (const _ of reply.body ?? []);
}

function products(root: string): string {
  mkdirSync(join(root, 'basic/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'basic/1.0.0/large.bin'), randomBytes(LARGE_MB * 1_000_000))
  for (let folder = 0; folder < 100; folder++) {
    const path = join(root, `pro/1.0.0/part-${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES / 100; file++)
      writeFileSync(join(path, `${file}.txt`), `file ${folder} ${file}\n`.repeat(9))
  }
  return root
}
