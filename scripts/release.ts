/**
 * `npm run release [-- REVISION]`: the archive of a release, the tag's files with the built user app, so that nothing is built where
 * it is unpacked, and beside it the list of what is in it (CycloneDX). The app is made of what is archived, times and all: a start compares them with what it was built from.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
}
const revision = process.argv[2] ?? `v${version}`
const name = `latchkey-${version}`
const archive = resolve(`${name}.tar.gz`)

const work = mkdtempSync(join(tmpdir(), 'latchkey-release-'))
try {
  const tar = join(work, 'source.tar')
  execFileSync('git', ['archive', `--prefix=${name}/`, '-o', tar, revision], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  execFileSync('tar', ['-xf', tar, '-C', work])
  const tree = join(work, name)
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: tree, stdio: 'inherit' })
  rmSync(join(tree, 'node_modules'))
  execFileSync('tar', [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '-czf',
    archive,
    '-C',
    work,
    name,
  ])
} finally {
  rmSync(work, { recursive: true, force: true })
}
writeBillOfMaterials(`${name}.cdx.json`)
const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex')
writeFileSync(`${archive}.sha256`, `${sha256}  ${name}.tar.gz\n`)
console.log(`${archive}\n${sha256}`)

/** From the lock file alone: no registry is asked. What only develops the service is not in it. */
function writeBillOfMaterials(path: string): void {
  const options = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only']
  writeFileSync(path, execFileSync('npm', options, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 }))
}
