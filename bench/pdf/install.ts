// Locates the other PDF readers: pdfium in a Python environment in the user's cache; pdftotext on
// the path or, on Debian, unpacked beside it without installation.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'latchkey-bench', 'pdf')
const PYPDFIUM2 = 'pypdfium2==5.15.2'

/** Returns the Python of an environment with pdfium. @throws Error when pip fails */
export function pythonWithPdfium(): string {
  const venv = join(CACHE, PYPDFIUM2)
  const python = join(venv, 'bin', 'python')
  if (existsSync(join(venv, 'bin', 'pypdfium2'))) return python
  console.log(`Installing ${PYPDFIUM2} …`)
  mkdirSync(CACHE, { recursive: true })
  execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
  execFileSync(
    python,
    ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PYPDFIUM2],
    { stdio: 'inherit' },
  )
  return python
}

export type Program = { command: string; libraries: string }

/** Returns Poppler's pdftotext; null when neither the path nor the system's packages have it. */
export function pdftotext(): Program | null {
  if (spawnSync('pdftotext', ['-v']).error === undefined)
    return { command: 'pdftotext', libraries: '' }
  const root = join(CACHE, 'poppler')
  const command = join(root, 'usr', 'bin', 'pdftotext')
  if (!existsSync(command)) {
    console.log('Unpacking poppler-utils …')
    mkdirSync(root, { recursive: true })
    const plan = spawnSync('apt-get', ['install', '--dry-run', 'poppler-utils'], {
      encoding: 'utf8',
    })
    const packages = [...(plan.stdout ?? '').matchAll(/^Inst (\S+)/gm)].map(
      ([, name]) => name as string,
    )
    const got =
      packages.length > 0 &&
      spawnSync('apt-get', ['download', ...packages], { cwd: root }).status === 0
    if (!got) return null
    for (const file of globSync('*.deb', { cwd: root }))
      execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: root })
  }
  const [libraries = ''] = globSync('usr/lib/*-linux-gnu', { cwd: root })
  return { command, libraries: join(root, libraries) }
}
