/**
 * Runs pg_dump and pg_restore. Their version must not be older than the server's, or the dump's.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { childEnv } from '#config/config.ts'
import { readPoolConfig } from '#platform/db/postgres.ts'

/**
 * Returns the major version. @throws Error with the package to install when it is missing or too
 * old.
 */
export async function requireProgram(
  program: 'pg_dump' | 'pg_restore',
  versionMin: number,
): Promise<number> {
  const advice = `install PostgreSQL's client programs ${versionMin} or newer (Debian: postgresql-client-${versionMin}), or put their folder on PATH`
  const { stdout } = await promisify(execFile)(program, ['--version']).catch(() => {
    throw new Error(`${program} is not installed: ${advice}`)
  })
  const version = Number(/\d+/.exec(stdout)?.[0])
  if (version >= versionMin) return version
  throw new Error(`${program} is version ${version}, but ${versionMin} is required: ${advice}`)
}

/** Dumps a schema as an exported snapshot shows it. Owners and rights belong to the server. */
export function dumpSchema(databaseUrl: string, schema: string, snapshot: string) {
  const { address, env } = splitPassword(databaseUrl)
  const options = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`]
  return runProgram('pg_dump', [...options, `--schema="${schema}"`, `--dbname=${address}`], env)
}

/** Restores a dump in one transaction, without the entry of the schema, which exists already. */
export async function restoreDump(databaseUrl: string, file: string): Promise<void> {
  const entries = (await text(runProgram('pg_restore', ['--list', file]))).split('\n')
  await writeFile(`${file}.list`, entries.filter((line) => !/ SCHEMA /.test(line)).join('\n'))
  const { address, env } = splitPassword(databaseUrl)
  const options = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges']
  const args = [...options, `--use-list=${file}.list`, `--dbname=${address}`, file]
  await text(runProgram('pg_restore', args, env))
}

/** Yields what a program writes. @throws Error with its message when it fails. */
async function* runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): AsyncGenerator<Buffer> {
  const child = spawn(program, args, {
    env: childEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const messages = text(child.stderr)
  try {
    yield* child.stdout as AsyncIterable<Buffer>
    const [code] = await ended
    if (code !== 0) throw new Error(`${program} failed: ${(await messages).trim()}`)
  } finally {
    child.kill()
  }
}

/** Passes the password in the environment, because all users of the machine can read arguments. */
function splitPassword(databaseUrl: string): { address: string; env: NodeJS.ProcessEnv } {
  const { connectionString = '', options } = readPoolConfig(databaseUrl)
  const url = new URL(connectionString)
  const env: NodeJS.ProcessEnv = { PGOPTIONS: options }
  if (url.password !== '') env.PGPASSWORD = decodeURIComponent(url.password)
  url.password = ''
  for (const name of ['ssl', 'uselibpqcompat']) url.searchParams.delete(name)
  return { address: url.href, env }
}
