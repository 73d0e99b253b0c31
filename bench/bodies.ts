// Attacks the service with bodies that never end and with simultaneous uploads while other users
// read: measures peak memory, memory afterwards and the other users' p99. Attacker, server and
// readers share the cores, so a bare node:http server is attacked in turn. The readers may wait
// twice as long as without an attack, or as many times longer as at the attacked bare server. A
// second reading of the bare server, unattacked, shows how much the machine itself slows readers.
import { fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { load } from './lib/load.ts'
import { payingKey, type RunningService, signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { startBare } from './read.ts'

export const description =
  'memory, and other users’ p99, under 1,200 unfinished bodies and 60 uploads of 60 MB'

const MEGABYTE = 1024 * 1024
const ANONYMOUS = 1_200
const UPLOADS = 60
const UPLOAD_BYTES = 60 * MEGABYTE
/** Limits of the peak memory, the memory above idle afterwards, and the slowdown of other users. */
const LIMITS = { peakMb: 600, leftMb: 100, p99Factor: 2 }
const BACK_WITHIN_S = 60
const ROUNDS = 3
const SECONDS = 4

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

async function measure(
  service: RunningService,
  barePort: number,
  key: string,
  token: string,
): Promise<void> {
  const measureReaders = async (port: number) => {
    const all = { port, path: '/api/auth/me', headers: { authorization: `Bearer ${token}` } }
    return (await load({ ...all, connections: 8, seconds: SECONDS })).p99Ms
  }
  /** Attacks from a separate process, because sending costs more CPU than the measured reads. */
  const measureUnderAttack = async (port: number, attack: string[], readPort = port) => {
    const attacker = fork(import.meta.filename, [String(port), ...attack])
    const replyCounts = new Promise((resolve) => attacker.once('message', resolve))
    const p99Ms = await measureReaders(readPort)
    const replies = String(await replyCounts)
    attacker.kill('SIGKILL')
    return { p99Ms, replies }
  }

  await measureReaders(service.port)
  await measureReaders(barePort)
  const idleMb = service.memoryMb()
  let peakMb = 0
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb())
  }, 50)
  const rows = [['idle', mb(idleMb), '', '', '', '', '']]
  for (const [name, ...attack] of [
    [`${ANONYMOUS} unfinished bodies`],
    [`${UPLOADS} uploads of 60 MB, one key`, key],
  ]) {
    peakMb = 0
    let leftMb = 0
    const rounds: Record<
      'service' | 'bare' | 'beside',
      { quietMs: number; p99Ms: number; replies: string }[]
    > = { service: [], bare: [], beside: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.service.push({
        quietMs: await measureReaders(service.port),
        ...(await measureUnderAttack(service.port, attack)),
      })
      leftMb = await waitForMemory(service.memoryMb, idleMb)
      rounds.bare.push({
        quietMs: await measureReaders(barePort),
        ...(await measureUnderAttack(barePort, attack)),
      })
      rounds.beside.push({
        quietMs: await measureReaders(barePort),
        ...(await measureUnderAttack(service.port, attack, barePort)),
      })
      await waitForMemory(service.memoryMb, idleMb)
    }
    const ours = computeFactor(rounds.service)
    const bare = computeFactor(rounds.bare)
    const isWell =
      peakMb < LIMITS.peakMb &&
      leftMb - idleMb < LIMITS.leftMb &&
      ours <= Math.max(LIMITS.p99Factor, bare)
    const { replies = '' } = rounds.service[0] ?? {}
    const waits = [
      formatRounds(rounds.service, ours),
      formatRounds(rounds.bare, bare),
      formatRounds(rounds.beside, computeFactor(rounds.beside)),
    ]
    rows.push([
      String(name),
      `${mb(peakMb)} peak, ${mb(leftMb)} after`,
      ...waits,
      replies,
      isWell ? '✔' : '✖',
    ])
  }
  clearInterval(watch)
  printTable(
    `Limits: peak memory ${LIMITS.peakMb} MB; within ${LIMITS.leftMb} MB of idle afterwards; other users’ p99 within ${LIMITS.p99Factor}× of p99 without an attack, or of the slowdown of bare node:http; medians of ${ROUNDS} rounds`,
    [
      'attack',
      'memory',
      'other users’ p99',
      'bare node:http under the same attack',
      'bare node:http, not attacked',
      'replies',
      '',
    ],
    rows,
  )
}

type Round = { quietMs: number; p99Ms: number }

const computeFactor = (rounds: Round[]) =>
  median(rounds.map(({ quietMs, p99Ms }) => p99Ms / quietMs))
const formatRounds = (rounds: Round[], factor: number) =>
  `${median(rounds.map(({ quietMs }) => quietMs)).toFixed(1)} → ${median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms, ${factor.toFixed(1)} ×`

const median = (values: number[]) =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )

/**
 * Sends all of a 1 MB body except its end, and stays connected. Uses forty addresses, so that
 * limits by address do not help.
 */
async function sendUnfinishedBodies(port: number): Promise<string> {
  const head = `POST /api/billing/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MEGABYTE}\r\n\r\n`
  const body = Buffer.alloc(MEGABYTE - 8_000, 0x20)
  const counted = new Map<string, number>()
  for (let index = 0; index < ANONYMOUS; index++)
    sending(port, `127.0.1.${1 + (index % 40)}`, [Buffer.from(head), body], counted)
  await wait(SECONDS * 1_000 - 500)
  return formatReplies(counted)
}

async function sendUploads(port: number, key: string): Promise<string> {
  const text = Buffer.alloc(UPLOAD_BYTES, 'So many words as fit into it, and then again. ')
  const counted = new Map<string, number>()
  for (let index = 0; index < UPLOADS; index++) {
    const start = Buffer.from(`{"content":"Number ${index}. `)
    const length = start.length + text.length + 2
    const head = `POST /api/rag/ingest/text HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    sending(port, '127.0.0.1', [Buffer.from(head), start, text, Buffer.from('"}')], counted)
  }
  await wait(SECONDS * 1_000 - 500)
  return formatReplies(counted)
}

function sending(
  port: number,
  localAddress: string,
  parts: Buffer[],
  counted: Map<string, number>,
): void {
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  socket.once('data', (answer: Buffer) => {
    const status = answer.toString('latin1').slice(9, 12)
    counted.set(status, (counted.get(status) ?? 0) + 1)
  })
  for (const part of parts) socket.write(part)
}

/** Waits until the memory is within the limit, or the time is over. Returns the memory. */
async function waitForMemory(memoryMb: () => number, idleMb: number): Promise<number> {
  for (let seconds = 0; seconds < BACK_WITHIN_S && memoryMb() - idleMb > LIMITS.leftMb; seconds++)
    await wait(1_000)
  return memoryMb()
}

const mb = (value: number) => `${Math.round(value)} MB`
const formatReplies = (counted: ReadonlyMap<string, number>) =>
  [...counted].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none'

const [port, key] = process.argv.slice(2)
if (process.send && port !== undefined) {
  process.send(
    key === undefined
      ? await sendUnfinishedBodies(Number(port))
      : await sendUploads(Number(port), key),
  )
  await wait(60_000)
}
