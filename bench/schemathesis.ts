// Compares both API descriptions with the replies: schemathesis sends thousands of valid and
// invalid requests to every operation. It looks for a 5xx, for an undescribed status, type, header
// or body, and for an operation that ignores its credential. The bench installs it at the first use
// in a virtual environment in the user's cache.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { payingUser, ROOT, type RunningService, signUp, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { ran } from './sdks/child.ts'

export const description =
  'schemathesis at every operation with several roles: no 5xx, no undescribed reply'

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'latchkey-bench')
const VENV = join(CACHE, 'schemathesis')
const PROGRAM = join(VENV, process.platform === 'win32' ? 'Scripts' : 'bin', 'schemathesis')
const REQUIREMENTS = join(import.meta.dirname, 'schemathesis', 'requirements.txt')

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'ignored_auth',
]
/** These operations end the session of the other requests, so only anonymous requests call them. */
const SIGNING_OUT = ['logOut', 'revokeSession', 'deleteSession']
/**
 * Extra time beyond the limit to finish the current operation: some operations have more than a
 * hundred cases in one batch.
 */
const GRACE_MS = 240_000
const OFF = Object.fromEntries(
  ['GENERAL', 'AUTH', 'AI', 'RAG'].map((name) => [`RATE_LIMIT_${name}`, 'off']),
)

type Person = {
  name: string
  document: string
  url: string
  /** Signs in again and returns the header; null for anonymous requests. */
  header: (() => Promise<string>) | null
  /** Path that answers 200 while the credential is valid. */
  self: string
}
type Report = {
  operations: { tested: number; total: number }
  test_cases: { generated: number }
  failures: { title: string; operations: string[]; count: number }[]
  errors: unknown[]
  stop_reason: string | null
}

/**
 * `npm run bench -- schemathesis [SECONDS] [ROLE …]`: seconds per role and phase, 240 by default.
 */
export async function run([seconds = '240', ...named]: string[]): Promise<void> {
  install()
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-schemathesis-'))
  const rows: (string | number)[][] = []
  let isWrong = false
  const service = await startService(OFF)
  try {
    for (const person of await people(service, folder)) {
      if (named.length > 0 && !named.some((one) => person.name.includes(one))) continue
      for (const phase of ['coverage', 'fuzzing']) {
        const { report, out } = await walk(person, phase, Number(seconds), folder)
        const failures = report?.failures ?? []
        const tested =
          report === null ? 'no report' : `${report.operations.tested}/${report.operations.total}`
        rows.push([person.name, phase, tested, report?.test_cases.generated ?? 0, failures.length])
        const isWell = report !== null && failures.length + report.errors.length === 0
        console.log(`${person.name}, ${phase}: ${isWell ? 'no failures' : `\n${out}`}`)
        if (!isWell) isWrong = true
      }
    }
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  printTable('schemathesis', ['role', 'phase', 'operations', 'requests', 'failures'], rows)
  if (isWrong) process.exitCode = 1
}

function install(): void {
  if (existsSync(PROGRAM)) return
  console.log(`Installing ${readFileSync(REQUIREMENTS, 'utf8').trim()} in ${VENV} …`)
  mkdirSync(CACHE, { recursive: true })
  must('python3', ['-m', 'venv', VENV])
  must(join(VENV, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    REQUIREMENTS,
  ])
}

function must(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`)
}

async function people(service: RunningService, folder: string): Promise<Person[]> {
  const { url, dataDir } = service
  const storefrontUrl = `http://127.0.0.1:${service.storefrontPort}`
  const api = { document: writeDocument('openapi.json', folder), url, self: '/api/auth/me' }
  const storefront = {
    document: writeDocument('storefront.openapi.json', folder),
    url: storefrontUrl,
    self: '/api/purchases',
  }
  const payer = await payingUser(service)
  const superuser = await signUp(url, 'superuser@example.com')
  const db = new DatabaseSync(join(dataDir, 'latchkey.db'), { timeout: 5_000 })
  db.prepare('update users set is_superuser = 1 where id = ?').run(superuser.userId)
  db.close()
  const bearer = (user: Credentials) => async () => {
    const { access_token } = (await (await signIn(`${url}/api/auth/login`, user)).json()) as {
      access_token: string
    }
    return `Authorization: Bearer ${access_token}`
  }
  const cookie = async () => {
    const { headers } = await signIn(`${storefrontUrl}/api/session`, payer)
    return `Cookie: ${headers.getSetCookie()[0]?.split(';')[0]}`
  }
  return [
    { name: 'storefront, a customer', ...storefront, header: cookie },
    { name: 'storefront, anonymous', ...storefront, header: null },
    { name: 'a paying user', ...api, header: bearer(payer) },
    { name: 'a superuser', ...api, header: bearer(superuser) },
    { name: 'anonymous', ...api, header: null },
  ]
}

type Credentials = { email: string; password: string }

async function signIn(url: string, { email, password }: Credentials): Promise<Response> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (!reply.ok)
    throw new Error(`signing in at ${url} failed: ${reply.status} ${await reply.text()}`)
  return reply
}

/**
 * Writes the description without the schemas of event streams: they describe the stream as a text,
 * and schemathesis would apply them to each event.
 */
function writeDocument(name: string, folder: string): string {
  const document = JSON.parse(readFileSync(join(ROOT, 'docs', name), 'utf8'), (key, value) =>
    key === 'text/event-stream' ? {} : value,
  )
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(document))
  return file
}

/** `report` is null when schemathesis wrote none. */
async function walk(
  { document, url, header, self }: Person,
  phase: string,
  seconds: number,
  folder: string,
) {
  const file = join(folder, 'report.json')
  rmSync(file, { force: true })
  const credential = header === null ? null : await header()
  const stays = SIGNING_OUT.flatMap((operation) => ['--exclude-operation-id', operation])
  const args = [
    'run',
    document,
    '--url',
    url,
    '--phases',
    phase,
    '--max-time',
    String(seconds),
    '--checks',
    CHECKS.join(','),
    ...(credential === null ? [] : ['--header', credential, ...stays]),
    ...(credential === null ? [] : ['--generation-with-security-parameters', 'false']),
    '--continue-on-failure',
    '--no-shrink',
    '--suppress-health-check',
    'all',
    '--warnings',
    'off',
    '--no-color',
    '--request-timeout',
    '30',
    '--generation-database',
    'none',
    '--report',
    'json',
    '--report-json-path',
    file,
  ]
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  const { out, error, late } = await ran(PROGRAM, args, {
    cwd: folder,
    env,
    msMax: seconds * 1_000 + GRACE_MS,
  })
  const report = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8') || 'null') as Report | null)
    : null
  // A call that ended the session made all later requests anonymous.
  const [name = '', value = ''] = credential?.split(': ') ?? []
  const isSignedIn =
    credential === null || (await fetch(url + self, { headers: { [name]: value } })).ok
  const notes = [
    ...(isSignedIn ? [] : ['The session has ended.']),
    ...(late ? ['The run did not end in time.'] : []),
  ]
  return { report: isSignedIn ? report : null, out: [out, error, ...notes].join('\n') }
}
