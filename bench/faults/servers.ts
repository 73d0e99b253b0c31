// Servers that the faults stop or freeze: a PostgreSQL, a Redis and a mail server, started by the
// bench.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../lib/service.ts'

const binaries = () => globSync('/usr/lib/postgresql/*/bin').sort().at(-1)

/** Debian's packages install here; without them the database faults are skipped. */
export const hasPostgres = (): boolean => binaries() !== undefined
export const hasRedis = (): boolean => globSync('/usr/bin/redis-server').length > 0

export type Postgres = Awaited<ReturnType<typeof startPostgres>>

export async function startPostgres() {
  const bin = binaries() ?? ''
  // The server refuses to run as root, and its user may not enter root's folders.
  const isRoot = process.getuid?.() === 0
  const who: { uid?: number; gid?: number } = isRoot ? readUserIds('postgres') : {}
  const folder = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'latchkey-faults-pg-'))
  if (who.uid !== undefined && who.gid !== undefined) chownSync(folder, who.uid, who.gid)
  const [data, port] = [join(folder, 'data'), await freePort()]
  const initdb = [
    '-D',
    data,
    '-U',
    'latchkey',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  execFileSync(join(bin, 'initdb'), initdb, { ...who, cwd: folder, stdio: 'ignore' })
  const url = `postgres://latchkey@127.0.0.1:${port}/postgres`
  const settings = ['max_connections=100', 'log_min_messages=panic'].flatMap((setting) => [
    '-c',
    setting,
  ])
  let child: ChildProcess | null = null

  const query = async <R extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
  ): Promise<R[]> => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      application_name: 'faults',
    })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<R>(text, values)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  const start = async () => {
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, ...settings]
    child = spawn(join(bin, 'postgres'), args, { ...who, cwd: folder, stdio: 'ignore' })
    for (let tries = 0; ; tries++) {
      const isUp = await query('select 1').then(
        () => true,
        () => false,
      )
      if (isUp) return
      if (tries > 200) throw new Error('PostgreSQL does not start')
      await sleep(50)
    }
  }
  /** Same as `pg_ctl stop -m fast`. */
  const stop = () => ended(child, 'SIGINT')
  /** The server and its child processes. Each has a separate process group. */
  const all = (): number[] => (child?.pid ? [child.pid, ...findChildren(child.pid)] : [])
  await start()

  return {
    url,
    query,
    start,
    stop,
    freeze: () => signal(all(), 'SIGSTOP'),
    thaw: () => signal(all().reverse(), 'SIGCONT'),
    /** Ends every connection except the bench's. */
    async terminate(): Promise<number> {
      const rows = await query(
        "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> 'faults'",
      )
      return rows.length
    },
    async end() {
      signal(all(), 'SIGCONT')
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Redis = Awaited<ReturnType<typeof startRedis>>

export async function startRedis() {
  const port = await freePort()
  let child: ChildProcess | null = null
  const start = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    child = spawn('redis-server', args, { cwd: tmpdir(), stdio: 'ignore' })
    await sleep(300)
  }
  await start()
  const pids = () => (child?.pid ? [child.pid] : [])
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    stop: () => ended(child, 'SIGTERM'),
    freeze: () => signal(pids(), 'SIGSTOP'),
    thaw: () => signal(pids(), 'SIGCONT'),
    async end() {
      signal(pids(), 'SIGCONT')
      await ended(child, 'SIGTERM')
    },
  }
}

function readUserIds(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function findChildren(parent: number): number[] {
  return globSync('/proc/[0-9]*/stat').flatMap((path) => {
    try {
      const [, fields = ''] = readFileSync(path, 'utf8').split(') ')
      return Number(fields.split(' ')[1]) === parent ? [Number(path.split('/')[2])] : []
    } catch {
      return []
    }
  })
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended meanwhile.
    }
  }
}

async function ended(child: ChildProcess | null, name: NodeJS.Signals): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(name)
  await gone
}
