// The faults, one a function: each is made under load, ends, and is looked back upon. A case says what was wrong in sentences.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMailServer } from '#testing/mail-server.ts'
import { type RunningService, startService } from '../lib/service.ts'
import type { Postgres, Redis } from './servers.ts'
import { mountSmallDisk } from './small-disk.ts'
import {
  createCustomer,
  inspect,
  type Journal,
  type Place,
  type Query,
  startTraffic,
} from './traffic.ts'

export type Outcome = {
  name: string
  answers: string
  slowestMs: number
  recoveredMs: number | null
  acknowledged: string
  wrong: string[]
}

const OFF = {
  RATE_LIMIT_AUTH: 'off',
  RATE_LIMIT_SIGNUP: 'off',
  SIGNUP_PROOF: 'off',
  LOG_LEVEL: 'fatal',
  // Counted, so that Redis is asked; and never reached.
  RATE_LIMIT_GENERAL: '1000000/60',
  RATE_LIMIT_AI: '1000000/60',
  RATE_LIMIT_RAG: '1000000/60',
}
const CLIENTS = 8
const RECOVERY_MS = 5_000
/** A bench on a busy machine: the sign that something hangs, not that it is slow. */
const BEFORE_MS = 1_500

type Fault = {
  name: string
  /** Resolves when it is over. */
  make(service: RunningService): Promise<void>
  /** Nobody may notice. */
  isSilent?: boolean
}

/** One service on the database, `CLIENTS` people, and one fault after another, each on what the one before has left. */
export async function runFaults(
  { url, query }: Pick<Postgres, 'url' | 'query'>,
  faults: Fault[],
  env: Record<string, string> = {},
): Promise<Outcome[]> {
  const originals = mkdtempSync(join(tmpdir(), 'latchkey-originals-'))
  const service = await startService({
    ...OFF,
    DATABASE_URL: url,
    ORIGINALS_DIR: originals,
    ...env,
  })
  const place: Place = { urls: () => [service.url], query }
  try {
    const { token } = await createCustomer(place)
    const outcomes: Outcome[] = []
    for (const fault of faults) outcomes.push(await under(place, service, token, fault))
    return outcomes
  } finally {
    await service.stop()
    rmSync(originals, { recursive: true, force: true })
  }
}

async function under(
  place: Place,
  service: RunningService,
  token: string,
  fault: Fault,
): Promise<Outcome> {
  const traffic = startTraffic(place, token, CLIENTS)
  await sleep(BEFORE_MS)
  await fault.make(service)
  const recoveredMs = await traffic.untilAllWork(RECOVERY_MS)
  await traffic.stop()
  const { journal } = traffic
  const wrong = [...journal.unanswered.map((what) => `no answer: ${what}`), ...journal.wrong]
  if (service.child.exitCode !== null)
    wrong.push(`the process ended with ${service.child.exitCode}`)
  if (recoveredMs === null) wrong.push(`nothing works ${RECOVERY_MS} ms after its end`)
  if (fault.isSilent && journal.answers.has(503))
    wrong.push(`${journal.answers.get(503)} requests noticed`)
  return buildOutcome(fault.name, journal, recoveredMs, [
    ...wrong,
    ...(await inspect(place, journal, token)),
  ])
}

/** Until it is true; null when it was not, of those tries that began in time. */
async function measureRecovery(
  isWell: () => Promise<boolean>,
  atMostMs: number,
): Promise<number | null> {
  const begun = performance.now()
  while (performance.now() - begun < atMostMs) {
    if (await isWell()) return Math.round(performance.now() - begun)
    await sleep(50)
  }
  return null
}

function buildOutcome(
  name: string,
  journal: Journal,
  recoveredMs: number | null,
  wrong: string[],
): Outcome {
  const { answers, registered, documents, calls, slowestMs } = journal
  return {
    name,
    answers: [...answers]
      .sort()
      .map(([status, count]) => `${count} × ${status}`)
      .join(', '),
    slowestMs: Math.round(slowestMs),
    recoveredMs,
    acknowledged: `${registered.length} accounts, ${documents.length} documents, ${calls.length} calls`,
    wrong,
  }
}

/** `forMs`: how long each is away. */
export const databaseFaults = (postgres: Postgres, forMs: number): Fault[] => [
  {
    name: 'PostgreSQL ends all connections, three times',
    async make() {
      for (let round = 0; round < 3; round++) {
        await postgres.terminate()
        await sleep(500)
      }
    },
  },
  {
    name: 'PostgreSQL restarts (fast)',
    async make() {
      await postgres.stop()
      await postgres.start()
    },
  },
  {
    name: `PostgreSQL is stopped for ${forMs / 1_000} s`,
    async make() {
      await postgres.stop()
      await sleep(forMs)
      await postgres.start()
    },
  },
  {
    name: `PostgreSQL is frozen for ${forMs / 1_000} s`,
    async make() {
      postgres.freeze()
      await sleep(forMs)
      postgres.thaw()
    },
  },
]

export const redisFaults = (redis: Redis, forMs: number): Fault[] => [
  {
    name: `Redis is stopped for ${forMs / 1_000} s`,
    isSilent: true,
    async make() {
      await redis.stop()
      await sleep(forMs)
      await redis.start()
    },
  },
  {
    name: `Redis is frozen for ${forMs / 1_000} s`,
    isSilent: true,
    async make() {
      redis.freeze()
      await sleep(forMs)
      redis.thaw()
    },
  },
]

/** More connections than the process may have files: those that it has are served, and it comes back by itself. */
export function descriptorFault(): Fault {
  return {
    name: '600 connections at 256 descriptors',
    async make({ child, port }) {
      limit(child.pid, 'nofile', '256')
      const sockets: Socket[] = []
      for (let n = 0; n < 600; n++) sockets.push(connect(port, '127.0.0.1').on('error', () => {}))
      await sleep(3_000)
      for (const socket of sockets) socket.destroy()
      limit(child.pid, 'nofile', '20000')
    },
  }
}

const DISK_MB = 48
/** What people do fills the rest, in a few seconds. */
const LEFT_BYTES = 4 * 1024 * 1024

/** SQLite's disk fills while people work, is full to its last byte, and has room again. */
export async function fullDisk(forMs: number): Promise<Outcome> {
  const disk = mountSmallDisk(DISK_MB)
  if (disk === null) return limitedFiles(forMs)
  try {
    let leastFree = Number.POSITIVE_INFINITY
    const fault: Fault = {
      name: `a disk of ${DISK_MB} MB fills up, for ${forMs / 1_000} s (SQLite)`,
      async make() {
        disk.fill(LEFT_BYTES)
        const steps = forMs / 100
        for (let step = 0; step < steps; step++) {
          leastFree = Math.min(leastFree, disk.freeBytes())
          if (step > steps / 2) disk.fill(0)
          await sleep(100)
        }
        disk.free()
      },
    }
    const outcome = await onSqlite(disk.folder, fault)
    if (leastFree > 0) outcome.wrong.push(`${leastFree} bytes were free all the time`)
    return outcome
  } finally {
    disk.end()
  }
}

/** Where no disk of our own can be mounted: SQLite's files may not grow any more, then they may. */
function limitedFiles(forMs: number): Promise<Outcome> {
  console.log(
    '  No file system can be mounted here: a limit of the process stands in for the full disk.',
  )
  return onSqlite(undefined, {
    name: `files may not grow for ${forMs / 1_000} s (SQLite)`,
    async make({ child }) {
      limit(child.pid, 'fsize', '4096')
      await sleep(forMs)
      limit(child.pid, 'fsize', 'unlimited')
    },
  })
}

async function onSqlite(dataDir: string | undefined, fault: Fault): Promise<Outcome> {
  const service = await startService(OFF, dataDir === undefined ? {} : { dataDir })
  const db = new DatabaseSync(join(service.dataDir, 'latchkey.db'), { timeout: 5_000 })
  const query: Query = async (text, values = []) =>
    db.prepare(text.replaceAll(/\$\d+/g, '?')).all(...(values as string[])) as never
  const place: Place = { urls: () => [service.url], query }
  try {
    const { token } = await createCustomer(place)
    const outcome = await under(place, service, token, fault)
    const [{ integrity_check: integrity } = {}] = await query<{ integrity_check: string }>(
      'pragma integrity_check',
    )
    if (integrity !== 'ok') outcome.wrong.push(`the database is broken: ${integrity}`)
    return outcome
  } finally {
    db.close()
    await service.stop()
  }
}

/** Two nodes whose clocks differ, and a mail server that takes its time: each letter once, each call once. */
export async function skewedClocks(
  { url, query }: Pick<Postgres, 'url' | 'query'>,
  skewMs: number,
): Promise<Outcome> {
  const mail = await startMailServer({ delayMs: 4_000 })
  const originals = mkdtempSync(join(tmpdir(), 'latchkey-originals-'))
  const env = {
    ...OFF,
    DATABASE_URL: url,
    ORIGINALS_DIR: originals,
    SMTP_URL: mail.url,
    SANDBOX: 'on',
    // One address for both, as behind a balancer: tokens are for it.
    BASE_URL: 'http://127.0.0.1:8000',
  }
  const skewed = {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'skewed-clock.ts')}`,
    SKEW_MS: String(skewMs),
  }
  const nodes = [await startService(env), await startService({ ...env, ...skewed })]
  const place: Place = { urls: () => nodes.map((node) => node.url), query }
  try {
    const { token } = await createCustomer(place)
    const traffic = startTraffic(place, token, 2)
    await sleep(12_000)
    await traffic.stop()
    const { journal } = traffic
    const letters = () => mail.to.filter((to) => to.startsWith('fault-'))
    await measureRecovery(async () => new Set(letters()).size >= journal.registered.length, 60_000)
    const twice = letters().length - new Set(letters()).size
    const wrong = [
      ...journal.unanswered,
      ...journal.wrong,
      ...(await inspect(place, journal, token)),
    ]
    if (twice > 0) wrong.push(`${twice} of ${letters().length} letters came twice`)
    const missing = journal.registered.filter((email) => !mail.to.includes(email)).length
    if (missing > 0) wrong.push(`${missing} letters never came`)
    return buildOutcome(`two clocks ${skewMs / 1_000} s apart, slow mail`, journal, 0, wrong)
  } finally {
    for (const node of nodes) await node.stop()
    await mail.stop()
    rmSync(originals, { recursive: true, force: true })
  }
}

/** Mail goes out when its server is back: each letter once. */
export async function mailAway(
  { url, query }: Pick<Postgres, 'url' | 'query'>,
  forMs: number,
): Promise<Outcome> {
  const mail = await startMailServer()
  const service = await startService({
    ...OFF,
    DATABASE_URL: url,
    SMTP_URL: mail.url,
    SANDBOX: 'on',
  })
  const place: Place = { urls: () => [service.url], query }
  try {
    const { token } = await createCustomer(place)
    await mail.stop()
    const traffic = startTraffic(place, token, 2)
    await sleep(forMs)
    await traffic.stop()
    await mail.start()
    const { journal } = traffic
    const come = () => journal.registered.every((email) => mail.to.includes(email))
    const recoveredMs = await measureRecovery(async () => come(), RECOVERY_MS)
    const wrong = [
      ...journal.unanswered,
      ...journal.wrong,
      ...(await inspect(place, journal, token)),
    ]
    if (journal.answers.has(503)) wrong.push('requests noticed')
    if (!come()) wrong.push(`letters are missing ${RECOVERY_MS} ms later`)
    const own = mail.to.filter((to) => to.startsWith('fault-'))
    if (own.length !== new Set(own).size) wrong.push('letters came twice')
    return buildOutcome(
      `the mail server is away for ${forMs / 1_000} s`,
      journal,
      recoveredMs,
      wrong,
    )
  } finally {
    await service.stop()
    await mail.stop()
  }
}

function limit(pid: number | undefined, resource: string, value: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--${resource}=${value}:`])
}
