// Installs the peers of the measurements at the first use. npm packages have a separate package
// beside this file, because a package.json in bench/ would hide the product's `#room` imports.
// Python packages are in the user's cache.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const PEERS = import.meta.dirname
export const PORTKEY = join(PEERS, 'node_modules/@portkey-ai/gateway')

const LITELLM_VERSION = '1.106.2'
export const LITELLM = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'latchkey-bench',
  'litellm',
)

export function isInstalled(peer: 'portkey' | 'litellm'): boolean {
  return existsSync(peer === 'portkey' ? PORTKEY : join(LITELLM, 'bin/litellm'))
}

/** Installs the npm packages. */
export function installPeers(name: string): void {
  if (existsSync(join(PEERS, 'node_modules', name))) return
  console.log('Installing the peers of bench/peers/package.json …')
  must('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'])
}

export function installLiteLlm(): void {
  if (isInstalled('litellm')) return
  console.log(`Installing LiteLLM ${LITELLM_VERSION} in ${LITELLM} …`)
  must('python3', ['-m', 'venv', LITELLM])
  must(join(LITELLM, 'bin/pip'), ['install', '--quiet', `litellm[proxy]==${LITELLM_VERSION}`])
}

const TANTIVY_VERSION = '0.27.0'
export const TANTIVY = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'latchkey-bench',
  'tantivy',
)

export function installTantivy(): void {
  if (existsSync(join(TANTIVY, 'bin/pip'))) return
  console.log(`Installing Tantivy ${TANTIVY_VERSION} in ${TANTIVY} …`)
  must('python3', ['-m', 'venv', TANTIVY])
  must(join(TANTIVY, 'bin/pip'), ['install', '--quiet', `tantivy==${TANTIVY_VERSION}`])
}

const LANCEDB_VERSION = '0.40.0'
const SQLITE_VEC_VERSION = '0.1.9'
const VECTORS = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'latchkey-bench',
  'vectors',
)
export const LANCEDB = join(VECTORS, 'bin/python')

/**
 * Installs half a gigabyte. Returns the extension of sqlite-vec; null, with a message, when the
 * installation fails.
 */
export function installVectorPeers(): string | null {
  const extension = () =>
    globSync('lib/python*/site-packages/sqlite_vec/vec0.*', { cwd: VECTORS })[0]
  try {
    if (extension() === undefined) {
      console.log(
        `Installing LanceDB ${LANCEDB_VERSION} and sqlite-vec ${SQLITE_VEC_VERSION} in ${VECTORS} …`,
      )
      must('python3', ['-m', 'venv', VECTORS])
      must(join(VECTORS, 'bin/pip'), [
        'install',
        '--quiet',
        `lancedb==${LANCEDB_VERSION}`,
        `sqlite-vec==${SQLITE_VEC_VERSION}`,
      ])
    }
    return join(VECTORS, extension() ?? '')
  } catch (error) {
    console.log(`LanceDB and sqlite-vec are skipped: ${(error as Error).message}`)
    return null
  }
}

function must(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: PEERS, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args[0]}: the peers could not be installed`)
}
