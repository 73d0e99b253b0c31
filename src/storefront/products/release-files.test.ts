import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js'
import fc from 'fast-check'
import { inMemory } from '#platform/content.ts'
import { writeZip, type ZipItem } from '#testing/zip.ts'
import { openReleaseFolder, openReleaseZip } from './release-files.ts'

const open = (bytes: Uint8Array) => openReleaseZip(inMemory(bytes))

async function unpack(bytes: Uint8Array) {
  const { files, leftOut } = await open(bytes)
  const contents: Record<string, string> = {}
  for (const file of files) contents[file.path] = String(await buffer(await file.open()))
  return { contents, leftOut, files }
}

test('unpacks stored and deflated files, and lists what is left out', async () => {
  const { contents, leftOut, files } = await unpack(
    writeZip([
      { name: 'src/', mode: 0o040755, method: 0 },
      { name: 'src/main.ts', content: 'main();'.repeat(1000) },
      { name: 'bin/run', content: '#!/bin/sh', method: 0, mode: 0o100755 },
      { name: 'größe.txt', content: 'ü' },
      { name: 'empty/', mode: 0o040755, method: 0 },
      { name: '__MACOSX/._main.ts', content: 'x' },
      { name: 'src/.DS_Store', content: 'x' },
    ]),
  )
  assert.deepEqual(contents, {
    'src/main.ts': 'main();'.repeat(1000),
    'bin/run': '#!/bin/sh',
    'größe.txt': 'ü',
  })
  assert.deepEqual(
    leftOut.map(({ path }) => path),
    ['empty', '__MACOSX/._main.ts', 'src/.DS_Store'],
  )
  assert.deepEqual(
    files.filter(({ executable }) => executable).map(({ path }) => path),
    ['bin/run'],
  )
})

const FILE: ZipItem = { name: 'a.txt', content: 'hello' }

const HOSTILE: [what: string, bytes: () => Uint8Array, reason: RegExp][] = [
  ['no ZIP', () => Buffer.from('hello'), /is no ZIP/],
  ['an empty file', () => Buffer.alloc(0), /is no ZIP/],
  ['no file', () => writeZip([]), /contains no files/],
  ['only litter', () => writeZip([{ name: '.DS_Store', content: 'x' }]), /contains no files/],
  ['a parent folder', () => writeZip([{ name: '../evil.sh' }]), /leads out of its folder/],
  ['a parent inside', () => writeZip([{ name: 'a/../../evil.sh' }]), /leads out of its folder/],
  ['a parent by backslash', () => writeZip([{ name: '..\\evil.sh' }]), /leads out of its folder/],
  ['an absolute path', () => writeZip([{ name: '/etc/passwd' }]), /is an absolute path/],
  ['a drive', () => writeZip([{ name: 'C:/evil.bat' }]), /is an absolute path/],
  ['a network path', () => writeZip([{ name: '\\\\host\\share' }]), /has a backslash/],
  ['a backslash', () => writeZip([{ name: 'a\\b.txt' }]), /has a backslash/],
  ['an empty name', () => writeZip([{ name: '' }]), /cannot be unpacked/],
  ['a dot', () => writeZip([{ name: 'a/./b' }]), /cannot be unpacked/],
  ['a control character', () => writeZip([{ name: 'a\u0000.txt' }]), /cannot be unpacked/],
  ['text that runs backwards', () => writeZip([{ name: 'a\u202etxt.exe' }]), /cannot be unpacked/],
  ['a long name', () => writeZip([{ name: 'a'.repeat(1025) }]), /cannot be unpacked/],
  ['an old encoding', () => writeZip([{ name: Buffer.from([0x81]), flags: 0 }]), /is not UTF-8/],
  [
    'a symbolic link',
    () => writeZip([{ name: 'a', content: '/etc', mode: 0o120777 }]),
    /symbolic link/,
  ],
  ['a device', () => writeZip([{ name: 'a', mode: 0o020666 }]), /no ordinary file/],
  ['an encrypted file', () => writeZip([{ ...FILE, flags: 0x801 }]), /is encrypted/],
  ['an encrypted directory', () => writeZip([{ ...FILE, flags: 0x2800 }]), /is encrypted/],
  ['an unusual method', () => writeZip([{ ...FILE, method: 12 }]), /by method 12/],
  ['a file twice', () => writeZip([FILE, FILE]), /is in it twice/],
  [
    'names that differ in case',
    () => writeZip([FILE, { name: 'A.TXT' }]),
    /one file on some systems/,
  ],
  [
    'names that differ in the form of an accent',
    () => writeZip([{ name: 'é' }, { name: 'e\u0301' }]),
    /one file on some systems/,
  ],
  [
    'a file that is a folder',
    () => writeZip([{ name: 'a' }, { name: 'A/b' }]),
    /a file and a folder/,
  ],
  ['a folder with content', () => writeZip([{ name: 'a/', content: 'x' }]), /has content/],
  ['shared data', () => writeZip([FILE, { ...FILE, name: 'b.txt', shares: 0 }]), /overlaps/],
  ['two names of one file', () => writeZip([{ ...FILE, localName: 'b.txt' }]), /in two ways/],
  [
    'bytes before',
    () => writeZip([FILE], { between: 'x' }).subarray(1),
    /belong to no entry|damaged|two ways/,
  ],
  ['bytes after', () => Buffer.concat([writeZip([FILE]), Buffer.from('x')]), /is no ZIP/],
  [
    'a bomb that tells its size',
    () => writeZip([{ name: 'a', content: Buffer.alloc(120 * 1024 * 1024) }]),
    /more than 200 times/,
  ],
  ['a size of terabytes', () => writeZip(forgeMany(3, 0xfffffffe)), /more than 8 GB/],
]

function forgeMany(count: number, sizeBytes: number): ZipItem[] {
  return Array.from({ length: count }, (_, index) => ({ name: `a${index}`, sizeBytes }))
}

for (const [what, bytes, reason] of HOSTILE) {
  test(`refuses a ZIP with ${what}`, async () => {
    await assert.rejects(open(bytes()), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'release_refused')
      assert.match(error.message, reason)
      return true
    })
  })
}

for (const [what, item, reason] of [
  [
    'a bomb that declares less',
    { name: 'a', content: Buffer.alloc(1e6), sizeBytes: 10 },
    /more than it declares/,
  ],
  ['a wrong checksum', { ...FILE, checksum: 1 }, /damaged/],
  ['less than it declares', { ...FILE, sizeBytes: 6 }, /damaged/],
] as [string, ZipItem, RegExp][]) {
  test(`refuses the content of ${what} when it is unpacked`, async () => {
    await assert.rejects(unpack(writeZip([item])), reason)
  })
}

test('refuses damaged packed bytes', async () => {
  const bytes = writeZip([{ name: 'a', content: 'hello hello hello' }])
  bytes.fill(0xff, 31, 40)
  await assert.rejects(unpack(bytes), /damaged/)
})

test('no change of a single byte gives other content', async () => {
  const bytes = writeZip([{ name: 'a/b.txt', content: 'hello '.repeat(20) }, FILE])
  const before = (await unpack(bytes)).contents
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ by
      const found = await unpack(changed).catch((error) => {
        assert.equal(error.code, 'release_refused', error.stack)
        return null
      })
      if (found)
        assert.deepEqual(Object.values(found.contents).sort(), Object.values(before).sort())
    }),
    { numRuns: 500 },
  )
})

test('reads ZIP64 and data descriptors of another writer', async () => {
  const writer = new ZipWriter(new BlobWriter(), { zip64: true, dataDescriptor: true })
  await writer.add('a.txt', new TextReader('hello'))
  await writer.add('b/c.txt', new TextReader('world'))
  const bytes = new Uint8Array(await (await writer.close()).arrayBuffer())
  assert.deepEqual((await unpack(bytes)).contents, { 'a.txt': 'hello', 'b/c.txt': 'world' })
})

test('reads what zip writes', { skip: !hasZip() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'release-zip-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh')
  chmodSync(join(folder, 'run.sh'), 0o755)
  execFileSync('zip', ['-rq', 'kit.zip', 'run.sh'], { cwd: folder })
  const { contents, files } = await unpack(readFileSync(join(folder, 'kit.zip')))
  assert.deepEqual([contents, files[0]?.executable], [{ 'run.sh': '#!/bin/sh' }, true])
})

test('a folder leaves out links and says so', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'release-folder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await assert.rejects(openReleaseFolder(folder), /contains no files/)
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/a.txt'), 'a')
  symlinkSync('/etc/passwd', join(folder, 'link'))
  mkdirSync(join(folder, '.git'))
  writeFileSync(join(folder, '.git/HEAD'), 'x')
  const { files, leftOut } = await openReleaseFolder(folder)
  assert.deepEqual(
    [files.map(({ path }) => path), leftOut],
    [
      ['src/a.txt'],
      [
        { path: 'link', reason: 'a symbolic link' },
        { path: '.git', reason: 'a file of a system or a tool' },
      ],
    ],
  )
})

function hasZip(): boolean {
  try {
    execFileSync('zip', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
