// Measures a buyer's first and next download of a large file, and a range, a HEAD and the dashboard
// for a release of 10,000 files. Breaks off 1,000 downloads and resumes them, and requests one
// download 10,000 times at once. Reference values in the same run: the next download is compared
// with the first, a small range with GET /healthz.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { paidSession, signed } from '#testing/buyer.ts'
import { downloadInTwo, read } from './lib/interrupted.ts'
import { type RunningService, signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const description =
  'CPU and wall time of downloads; 1,000 that break off, 10,000 requests at once'

const SECRET = 'whsec_bench'
const JSON_TYPE = { 'content-type': 'application/json' }
const LARGE_MB = 300
const MIDDLE_BYTES = 1_500_000
const FILES = 10_000
const ROUNDS = 10
const INTERRUPTED = 1_000
const PURCHASES_EACH = 50
const REQUESTS = 10_000
const AT_ONCE = 250
const COOLDOWN_MS = 60_000
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
    await interrupted(service, shop)
    await parallel(service, shop)
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

/** Breaks off each download at another place, and compares the resumed one with a whole one. */
async function interrupted(service: RunningService, shop: string) {
  let bytes = 0
  const startedMs = performance.now()
  for (let count = 0; count < INTERRUPTED; ) {
    const { cookie, userId } = await signIn(service, shop)
    for (let owned = 1; owned <= PURCHASES_EACH && count < INTERRUPTED; owned++, count++) {
      await sell(shop, userId, 'enterprise')
      const id = await findNewest(shop, cookie, owned)
      const url = `${shop}/api/download?purchase_id=${id}`
      const cut = 1 + Math.floor((count / INTERRUPTED) * MIDDLE_BYTES)
      const resumed = await downloadInTwo(url, { cookie }, cut)
      const whole = await read(url, { cookie, range: 'bytes=1-' })
      if (!resumed.subarray(1).equals(whole.bytes))
        throw new Error(`the download that broke off at byte ${cut} differs from a whole one`)
      bytes += resumed.length
    }
  }
  const seconds = (performance.now() - startedMs) / 1000
  console.log(
    `\n${INTERRUPTED.toLocaleString('en')} downloads of ${(bytes / INTERRUPTED / 1e6).toFixed(1)} MB broke off at as many places and were resumed to the same bytes, in ${seconds.toFixed(0)} s`,
  )
}

/** Waits for the purchase, which a job records when the event's reply does not wait for it. */
async function findNewest(shop: string, cookie: string, owned: number): Promise<string> {
  for (let turn = 0; turn < 100; turn++) {
    const reply = await fetch(`${shop}/api/purchases`, { headers: { cookie } })
    const purchases = (await reply.json()) as { id: string }[]
    if (purchases[0] && purchases.length === owned) return purchases[0].id
    await sleep(100)
  }
  throw new Error('a paid purchase was not recorded within 10 s')
}

/** At most one request of a cooldown is granted, and it alone is counted. */
async function parallel(service: RunningService, shop: string) {
  const cookie = await buyer(service, shop, 'enterprise')
  const statuses = new Map<number, number>()
  let left = REQUESTS
  const startedMs = performance.now()
  const request = async () => {
    while (left-- > 0) {
      const reply = await fetch(`${shop}/api/download`, { headers: { cookie } })
      await reply.arrayBuffer()
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, request))
  const elapsedMs = performance.now() - startedMs
  const granted = statuses.get(200) ?? 0
  if (granted < 1 || granted > 1 + elapsedMs / COOLDOWN_MS || statuses.size !== 2)
    throw new Error(`replies: ${JSON.stringify([...statuses])}`)
  console.log(
    `\n${REQUESTS.toLocaleString('en')} requests of one buyer, ${AT_ONCE} at once, in ${(elapsedMs / 1000).toFixed(0)} s: ${granted} granted, ${statuses.get(429)} rejected (429)`,
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
    await sleep(100)
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

async function buyer(service: RunningService, shop: string, tier: string): Promise<string> {
  const { cookie, userId } = await signIn(service, shop)
  await sell(shop, userId, tier)
  return cookie
}

async function signIn({ url }: RunningService, shop: string) {
  const { email, password, userId } = await signUp(url, `${randomUUID()}@example.com`)
  const session = await fetch(`${shop}/api/session`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ email, password }),
  })
  if (!session.ok) throw new Error(`signing in failed: ${session.status}`)
  return { cookie: (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '', userId }
}

async function sell(shop: string, userId: string, tier: string): Promise<void> {
  const event = {
    id: `evt_${randomUUID()}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: { object: paidSession(userId, tier) },
  }
  const body = JSON.stringify(event)
  const headers = { ...JSON_TYPE, 'stripe-signature': signed(body, SECRET) }
  const { ok, status } = await fetch(`${shop}/api/processor/webhook`, {
    method: 'POST',
    headers,
    body,
  })
  if (!ok) throw new Error(`selling failed: ${status}`)
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
  mkdirSync(join(root, 'enterprise/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'enterprise/1.0.0/middle.bin'), randomBytes(MIDDLE_BYTES))
  for (let folder = 0; folder < 100; folder++) {
    const path = join(root, `pro/1.0.0/part-${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES / 100; file++)
      writeFileSync(join(path, `${file}.txt`), `file ${folder} ${file}\n`.repeat(9))
  }
  return root
}
