// Bodies that never end and uploads all at once, beside other users' reads: how much memory they take, whether it comes back, and
// what the others wait: also beside a bare node:http server under the same attack, since attacker, server and others share the cores.
import { fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { load } from './lib/load.ts'
import { payingKey, type RunningService, signUp, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { startBare } from './read.ts'

export const says = 'memory and others’ p99 under 1,200 unfinished bodies and 60 uploads of 60 MB'

const MEGABYTE = 1024 * 1024
const ANONYMOUS = 1_200
const UPLOADS = 60
const UPLOAD_BYTES = 60 * MEGABYTE
/** Memory at most, above idle afterwards, and how much longer others wait. */
const LIMITS = { peakMb: 600, leftMb: 100, p99Factor: 2 }
const BACK_WITHIN_S = 60

export async function run(): Promise<void> {
  const service = await startService({ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_RAG: 'off' })
  try {
    const { key } = await payingKey(service)
    const { token, userId } = await signUp(service.url)
    const bare = await startBare(service, userId)
    try {
      await measure(service, bare.port, key, token)
    } finally {
      bare.stop()
    }
  } finally {
    await service.stop()
  }
}

async function measure(service: RunningService, barePort: number, key: string, token: string): Promise<void> {
  const others = (port: number) =>
    load({ ...{ port, path: '/api/auth/me', connections: 8, seconds: 5 }, headers: bearer(token) })
  /** In a process of its own: what it sends is more work than what is measured here. */
  const attacked = async (port: number, attack: string[]) => {
    const attacker = fork(import.meta.filename, [String(port), ...attack])
    const told = new Promise((resolve) => attacker.once('message', resolve))
    const waited = await others(port)
    const replies = String(await told)
    attacker.kill('SIGKILL')
    return { p99Ms: waited.p99Ms, replies }
  }

  await others(service.port)
  await others(barePort)
  const idleMb = service.memoryMb()
  const quiet = { service: await others(service.port), bare: await others(barePort) }
  const rows = [['idle', mb(idleMb), ms(quiet.service.p99Ms), ms(quiet.bare.p99Ms), '', '']]

  let peakMb = 0
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb())
  }, 50)
  for (const [name, ...attack] of [[`${ANONYMOUS} unfinished bodies`], [`${UPLOADS} uploads of 60 MB, one key`, key]]) {
    peakMb = 0
    const { p99Ms, replies } = await attacked(service.port, attack)
    const leftMb = await settled(service.memoryMb, idleMb)
    const bare = await attacked(barePort, attack)
    const isWell =
      peakMb < LIMITS.peakMb && leftMb - idleMb < LIMITS.leftMb && p99Ms < quiet.service.p99Ms * LIMITS.p99Factor
    const waits = [times(p99Ms, quiet.service.p99Ms), times(bare.p99Ms, quiet.bare.p99Ms)]
    rows.push([String(name), `${mb(peakMb)}, then ${mb(leftMb)}`, ...waits, replies, isWell ? '✔' : '✖'])
  }
  clearInterval(watch)
  printTable(
    `Memory under ${LIMITS.peakMb} MB, back to within ${LIMITS.leftMb} MB of idle, others’ p99 within ${LIMITS.p99Factor}× of their quiet one`,
    ['attack', 'memory', 'others’ p99', 'bare node:http, the same attack', 'replies', ''],
    rows,
  )
}

/** Each sends all of a body of 1 MB but its end, and stays. From forty addresses, so that no count of addresses helps. */
async function unfinished(port: number): Promise<string> {
  const head = `POST /api/billing/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MEGABYTE}\r\n\r\n`
  const body = Buffer.alloc(MEGABYTE - 8_000, 0x20)
  const counted = new Map<string, number>()
  for (let index = 0; index < ANONYMOUS; index++)
    sending(port, `127.0.1.${1 + (index % 40)}`, [Buffer.from(head), body], counted)
  await wait(4_000)
  return tellOf(counted)
}

async function uploads(port: number, key: string): Promise<string> {
  const text = Buffer.alloc(UPLOAD_BYTES, 'So many words as fit into it, and then again. ')
  const counted = new Map<string, number>()
  for (let index = 0; index < UPLOADS; index++) {
    const start = Buffer.from(`{"content":"Number ${index}. `)
    const length = start.length + text.length + 2
    const head = `POST /api/rag/ingest/text HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    sending(port, '127.0.0.1', [Buffer.from(head), start, text, Buffer.from('"}')], counted)
  }
  await wait(4_500)
  return tellOf(counted)
}

function sending(port: number, localAddress: string, parts: Buffer[], counted: Map<string, number>): void {
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  socket.once('data', (answer: Buffer) => {
    const status = answer.toString('latin1').slice(9, 12)
    counted.set(status, (counted.get(status) ?? 0) + 1)
  })
  for (const part of parts) socket.write(part)
}

/** What is left when it no longer falls, or is well. */
async function settled(memoryMb: () => number, idleMb: number): Promise<number> {
  for (let seconds = 0; seconds < BACK_WITHIN_S && memoryMb() - idleMb > LIMITS.leftMb; seconds++) await wait(1_000)
  return memoryMb()
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const mb = (value: number) => `${Math.round(value)} MB`
const ms = (value: number) => `${value.toFixed(1)} ms`
const times = (value: number, quiet: number) => `${ms(value)} (${(value / quiet).toFixed(1)} ×)`
const tellOf = (counted: ReadonlyMap<string, number>) =>
  [...counted].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none'

const [port, key] = process.argv.slice(2)
if (process.send && port !== undefined) {
  process.send(key === undefined ? await unfinished(Number(port)) : await uploads(Number(port), key))
  await wait(60_000)
}
