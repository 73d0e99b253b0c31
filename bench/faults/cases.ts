// One function per fault: causes it under load, ends it, and inspects the result. A case reports
// its faults in sentences.
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
  // A limit that is never reached, so that every request is counted in Redis.
  RATE_LIMIT_GENERAL: '1000000/60',
  RATE_LIMIT_AI: '1000000/60',
  RATE_LIMIT_RAG: '1000000/60',
}
const CLIENTS = 8
const RECOVERY_MS = 5_000
/** Long enough for a busy machine: a longer wait means that a request hangs. */
const BEFORE_MS = 1_500

type Fault = {
  name: string
  /** Resolves when the fault is over. */
  make(service: RunningService): Promise<void>
  /** No request may be affected. */
  isSilent?: boolean
}

/** Runs one service with `CLIENTS` users and one fault after another on the same data. */
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
  if (recoveredMs === null)
    wrong.push(`the service has not recovered ${RECOVERY_MS} ms after the fault`)
  if (fault.isSilent && journal.answers.has(503))
    wrong.push(`${journal.answers.get(503)} requests failed with 503`)
  return buildOutcome(fault.name, journal, recoveredMs, [
    ...wrong,
    ...(await inspect(place, journal, token)),
  ])
}

/**
 * Returns the milliseconds until `isWell` returns true; null when no attempt that began in time
 * succeeded.
 */
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

/** `forMs`: the duration of each outage. */
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

/**
 * Opens more connections than the process may have descriptors. Existing connections keep working,
 * and the service recovers without a restart.
 */
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
/** The load fills the rest within a few seconds. */
const LEFT_BYTES = 4 * 1024 * 1024

/** SQLite's disk fills to its last byte under load, then has space again. */
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
    if (leastFree > 0)
      outcome.wrong.push(`${leastFree} bytes were always free: the disk never filled`)
    return outcome
  } finally {
    disk.end()
  }
}

/**
 * Used where no small file system can be mounted: forbids SQLite's files to grow, then allows it
 * again.
 */
function limitedFiles(forMs: number): Promise<Outcome> {
  console.log('  No file system can be mounted here, so a process limit replaces the full disk.')
  return onSqlite(undefined, {
    name: `files cannot grow for ${forMs / 1_000} s (SQLite)`,
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
    if (integrity !== 'ok') outcome.wrong.push(`the database is corrupt: ${integrity}`)
    return outcome
  } finally {
    db.close()
    await service.stop()
  }
}

/**
 * Two nodes with different clocks and a slow mail server: every email and every call exactly once.
 */
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
    // Both nodes share one base URL, as behind a load balancer, because tokens name it.
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
    if (twice > 0) wrong.push(`${twice} of ${letters().length} emails arrived twice`)
    const missing = journal.registered.filter((email) => !mail.to.includes(email)).length
    if (missing > 0) wrong.push(`${missing} emails never arrived`)
    return buildOutcome(`two clocks ${skewMs / 1_000} s apart, slow mail`, journal, 0, wrong)
  } finally {
    for (const node of nodes) await node.stop()
    await mail.stop()
    rmSync(originals, { recursive: true, force: true })
  }
}

/** Emails are sent once the mail server is back, each exactly once. */
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
    if (journal.answers.has(503)) wrong.push('requests failed with 503')
    if (!come()) wrong.push(`emails are missing ${RECOVERY_MS} ms later`)
    const own = mail.to.filter((to) => to.startsWith('fault-'))
    if (own.length !== new Set(own).size) wrong.push('emails arrived twice')
    return buildOutcome(
      `the mail server is down for ${forMs / 1_000} s`,
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
