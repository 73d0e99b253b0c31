/**
 * The outputs of `npm run build`. Each has a stamp file with a fingerprint of its sources; an
 * output with another fingerprint is outdated.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** `stamp`: the file in the output folder with the fingerprint of the sources. */
export type Built = { folder: string; stamp: string; sources(): string[] }

/** The user app, which the service serves. */
export const USER_APP = part(join(ROOT, 'web', 'dist'), () => [
  ...filesBelow('web', (file) => !/^(dist|node_modules)\b/.test(file)),
  ...filesBelow('src/brand', (file) => /^(oklch|tokens)\.ts$/.test(file)),
  // For the sentences of errors.
  ...filesBelow('src', (file) => /\bproblems\.ts$|problem-sentences\.de\.json$/.test(file)),
])

/** The modules of the service in a few files, which start in half the time. */
export const BUNDLE = part(join(ROOT, 'dist'), () => [
  'package.json',
  ...filesBelow(
    'src',
    (file) => /\.(?:ts|json)$/.test(file) && !/\.test\.ts$|^testing\b/.test(file),
  ),
])

function part(folder: string, sources: () => string[]): Built {
  return { folder, stamp: join(folder, '.sources'), sources }
}

function filesBelow(folder: string, isSource: (file: string) => boolean): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(isSource)
    .map((file) => join(folder, file))
    .sort()
}

/**
 * Returns a hash of the sources' names, sizes and times, which is cheap enough for every start.
 * Times are whole seconds, because archives store no fractions.
 */
export function fingerprint({ sources }: Built): string {
  const hash = createHash('sha256')
  for (const file of sources()) {
    const stat = statSync(join(ROOT, file))
    if (stat.isFile()) hash.update(`${file}\0${stat.size}\0${Math.floor(stat.mtimeMs / 1_000)}\n`)
  }
  return hash.digest('hex')
}

export function isCurrent(built: Built): boolean {
  try {
    return readFileSync(built.stamp, 'utf8') === fingerprint(built)
  } catch {
    return false
  }
}
