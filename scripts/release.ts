/**
 * `npm run release [-- REVISION]`: writes the archive of a release, which contains the tag's files
 * and the built user app, so that a machine can run it without a build. Also writes the list of its
 * packages (CycloneDX). The app is built from the archived files with their times, because a start
 * compares them.
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

/** Reads only the lock file, without a registry, and omits development packages. */
function writeBillOfMaterials(path: string): void {
  const options = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only']
  writeFileSync(path, execFileSync('npm', options, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 }))
}
