import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'
import type { PackReader } from './layout.ts'
import { openPack, type PackSource, preparePack } from './pack.ts'
import { type PlainArchive, planPlainArchive, readPlainArchive } from './plain-archive.ts'

/** Small and large, deflated and stored, and one of a megabyte and more, which is streamed. */
const FILES: Record<string, Buffer> = {
  'README.md': Buffer.alloc(500, '# hello\n'),
  'ünï/日本語 🗝.txt': randomBytes(70_000),
  empty: Buffer.alloc(0),
  'bin/run.sh': Buffer.from('#!/bin/sh\necho hello\n'),
  'large/text.txt': Buffer.alloc(1_500_000, 'all work and no play '),
  'large/noise.bin': randomBytes(1_200_000),
}

test('zip.js unpacks what went in, with correct checksums', async (t) => {
  const { bytes, archive } = await pack(t)
  assert.equal(bytes.length, archive.sizeBytes)
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { checkSignature: true })
  const found: Record<string, Buffer> = {}
  for (const entry of await reader.getEntries()) {
    if (entry.directory) continue
    assert.equal(entry.encrypted, false)
    found[entry.filename] = Buffer.from(await entry.getData(new Uint8ArrayWriter()))
  }
  assert.deepEqual(
    found,
    Object.fromEntries(Object.entries(FILES).map(([path, bytes]) => [`kit-1.0.0/${path}`, bytes])),
  )
})

for (const [program, args] of [
  ['unzip', ['-q']],
  ['bsdtar', ['-xf']],
  ['7z', ['x', '-y']],
  ['python3', ['-m', 'zipfile', '-e']],
] as const) {
  test(`${program} unpacks it`, async (t) => {
    if (spawnSync(program).error) return t.skip(`${program} is not installed`)
    const { bytes, folder } = await pack(t)
    const file = join(folder, 'kit.zip')
    writeFileSync(file, bytes)
    const end = program === 'python3' ? [file, folder] : [file]
    const { status, stderr } = spawnSync(program, [...args, ...end], { cwd: folder })
    assert.equal(status, 0, String(stderr))
    for (const [path, content] of Object.entries(FILES))
      assert.ok(readFileSync(join(folder, 'kit-1.0.0', path)).equals(content), path)
    // Python ignores the mode of a file.
    const { mode } = statSync(join(folder, 'kit-1.0.0/bin/run.sh'))
    if (program !== 'python3') assert.equal(mode & 0o100, 0o100)
  })
}

test('every range gives the bytes of the whole archive', async (t) => {
  const { bytes, archive, source } = await pack(t)
  const size = archive.sizeBytes
  const edges = archive.entries.flatMap(({ at, headerBytes, listedAt }) => [
    at,
    at + headerBytes,
    listedAt,
  ])
  const places = [0, 1, size - 1, size, archive.directoryAt, ...edges].flatMap((place) => [
    Math.max(0, place - 1),
    Math.min(size, place + 1),
  ])
  for (const start of places) {
    for (const end of places.filter((place) => place > start))
      if (end - start < 200_000)
        assert.ok(
          (await collect(archive, source, start, end)).equals(bytes.subarray(start, end)),
          `${start}-${end}`,
        )
  }
})

test('the tag changes with any file, and not with the buyer', async (t) => {
  const one = await pack(t)
  const same = await pack(t)
  assert.equal(one.archive.etag, same.archive.etag)
  const other = await pack(t, { ...FILES, 'README.md': Buffer.alloc(500, '# hallo\n') })
  assert.notEqual(one.archive.etag, other.archive.etag)
})

async function pack(t: TestContext, files = FILES) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-plain-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const sources = Object.entries(files).map(
    ([path, content]): PackSource => ({
      path,
      sizeBytes: content.length,
      tag: path,
      executable: path.endsWith('.sh'),
      open: async () => Readable.from([content]),
    }),
  )
  const made = await preparePack(join(folder, 'cache'), sources)
  const source = await openPack(join(folder, 'cache'), made)
  t.after(() => source.close())
  const modifiedAt = new Date('2026-01-02T03:04:06Z')
  const archive = planPlainArchive({ entries: made.entries, folder: 'kit-1.0.0', modifiedAt })
  return { folder, archive, source, bytes: await collect(archive, source) }
}

async function collect(archive: PlainArchive, source: PackReader, start?: number, end?: number) {
  const parts: Buffer[] = []
  for await (const part of readPlainArchive(archive, source, start, end)) parts.push(part)
  return Buffer.concat(parts)
}
