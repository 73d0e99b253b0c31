// Locations of the clients: npm's beside this file; Python's in the user's cache, each in a
// separate virtual environment, because their dependencies conflict. A stamp records the installed
// versions, and a broken installation is repeated.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'

export const HERE = import.meta.dirname
export const JAVASCRIPT = join(HERE, 'javascript')
export const AGENTS = join(HERE, 'agents')

const CACHE = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'latchkey-bench',
  'sdks',
)
const INSTALL_MS_MAX = 900_000

/** This process's node comes first, because agents need a newer one than the machine may have. */
export const PATH = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter)

/** @throws Error when npm fails */
export function installNpm(folder: string): void {
  const stamp = join(folder, 'node_modules', '.stamp')
  const expected = digest(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (isStamped(stamp, expected)) return
  console.log(`Installing bench/sdks/${basename(folder)} …`)
  must(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'],
    folder,
  )
  writeFileSync(stamp, expected)
}

/**
 * Returns the Python of an environment with the requirements in the head of the walk. @throws Error
 * when pip fails
 */
export function installPython(name: string): string {
  const needed = readDependencies(readFileSync(join(HERE, 'python', `walk_${name}.py`), 'utf8'))
  const venv = join(CACHE, name)
  const python = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin', 'python')
  const stamp = join(venv, 'stamp')
  const expected = digest(needed.join('\n'))
  if (existsSync(python) && isStamped(stamp, expected)) return python
  console.log(`Installing ${needed.join(', ')} …`)
  mkdirSync(CACHE, { recursive: true })
  must('python3', ['-m', 'venv', venv], CACHE)
  must(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...needed], CACHE)
  writeFileSync(stamp, expected)
  return python
}

/** Reads the script's metadata (PEP 723), so that other tools can run a walk, too. */
function readDependencies(script: string): string[] {
  const line = /^# dependencies = (\[.*\])$/m.exec(script)?.[1]
  if (line === undefined) throw new Error('the walk has no `dependencies` line')
  return JSON.parse(line) as string[]
}

function isStamped(stamp: string, content: string): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === content
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function must(command: string, args: string[], cwd: string): void {
  const options = {
    cwd,
    stdio: 'inherit',
    timeout: INSTALL_MS_MAX,
    env: { ...process.env, PATH },
  } as const
  const { status, error } = spawnSync(command, args, options)
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`)
}
