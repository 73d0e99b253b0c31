/**
 * Writes src/config/disposable-domains.txt from the newest disposable-email-domains-js, whose list
 * is in the public domain (CC0). Needs npm's registry and tar.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'latchkey-domains-'))
try {
  const packed = execFileSync('npm', ['pack', '--silent', 'disposable-email-domains-js'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const archive = packed.trim().split('\n').at(-1) ?? ''
  execFileSync('tar', ['-xzf', archive], { cwd: folder })
  const list = readFileSync(
    join(folder, 'package/dist/dict/disposable_email_blocklist.json'),
    'utf8',
  )
  const domains = (JSON.parse(list) as string[]).map((domain) => domain.toLowerCase()).sort()
  const head = `# Domains of disposable email addresses, from ${archive.replace('.tgz', '')} (CC0). Made by scripts/disposable-domains.ts.\n`
  writeFileSync(
    new URL('../src/config/disposable-domains.txt', import.meta.url),
    `${head}${domains.join('\n')}\n`,
  )
  console.log(`${domains.length} domains`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
