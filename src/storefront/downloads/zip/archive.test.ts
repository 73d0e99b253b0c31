import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Reader, Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'
import fc from 'fast-check'
import { type Archive, entrySalt, type Order, planArchive, readArchive } from './archive.ts'
import { isSafePath } from './entry-name.ts'
import type { PackedEntry, PackReader } from './layout.ts'
import { openPack, type PackSource, preparePack } from './pack.ts'

const PASSWORD = 'LK-7F3K-9QZT-0001'
const EDGE_SIZES = [
  0, 1, 15, 16, 17, 31, 32, 33, 65_535, 65_536, 131_071, 131_072, 131_073, 262_160, 1_048_577,
]

type Files = Record<string, Buffer>

test('every size around a block, a batch and a buffer unpacks to what went in', async (t) => {
  const files: Files = {}
  for (const size of EDGE_SIZES) {
    files[`noise/${size}.bin`] = noise(size)
    files[`text/${size}.txt`] = Buffer.alloc(size, 'all work and no play ')
  }

  const { bytes, archive } = await pack(t, files)

  assert.equal(bytes.length, archive.sizeBytes)
  assert.deepEqual(await unpack(bytes, PASSWORD), inFolder(files))
})

test('any names and contents unpack with zip.js to what went in', async (t) => {
  await fc.assert(
    fc.asyncProperty(filesArbitrary(), async (files) => {
      const { bytes, archive } = await pack(t, files)
      assert.equal(bytes.length, archive.sizeBytes)
      assert.deepEqual(await unpack(bytes, PASSWORD), inFolder(files))
    }),
    { numRuns: 40 },
  )
})

test('an archive of so many files that threads derive its keys unpacks, also from its middle', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 600 }, (_, index) => [`${index}.txt`, Buffer.from(`file ${index}`)]),
  )
  const { bytes, archive, source } = await pack(t, files)
  assert.deepEqual(await unpack(bytes, PASSWORD), inFolder(files))
  // Few keys are left there, which node:crypto derives.
  const middle = Math.floor(archive.directoryAt / 2)
  assert.deepEqual(await collect(archive, source, middle), bytes.subarray(middle))
})

test('7-Zip tests and lists the archive, and rejects a wrong password', async (t) => {
  if (spawnSync('7z').error) return t.skip('7z is not installed')
  const files = {
    'README.md': Buffer.alloc(500, '# hello\n'),
    'ünï/日本語 🗝.txt': noise(70_000),
    empty: Buffer.alloc(0),
  }
  const { bytes, folder } = await pack(t, files)
  const path = join(folder, 'product.zip')
  writeFileSync(path, bytes)

  execFileSync('7z', ['x', `-p${PASSWORD}`, `-o${folder}/out`, '-y', path])
  for (const [name, content] of Object.entries(inFolder(files))) {
    assert.deepEqual(readFileSync(join(folder, 'out', name)), content)
  }
  assert.match(
    execFileSync('7z', ['l', '-slt', path], { encoding: 'utf8' }),
    /Method = AES-256 Deflate/,
  )
  assert.notEqual(spawnSync('7z', ['t', '-pwrong', path]).status, 0)
})

test('zip.js rejects a wrong password and changed content', async (t) => {
  const { bytes } = await pack(t, { 'a.bin': noise(5000) })
  await assert.rejects(unpack(bytes, 'LK-WRONG'))

  const changed = Buffer.from(bytes)
  changed[2000] = (changed[2000] ?? 0) ^ 1
  await assert.rejects(unpack(changed, PASSWORD))
})

test('the same order gives the same bytes; another buyer, secret or release gives others', async (t) => {
  const first = await pack(t, { 'a.txt': Buffer.from('text') })
  const again = await pack(t, { 'a.txt': Buffer.from('text') })
  assert.deepEqual(again.bytes, first.bytes)
  assert.equal(again.archive.etag, first.archive.etag)

  for (const change of [
    { password: 'LK-OTHER' },
    { saltKey: Buffer.alloc(32, 2) },
    { folder: 'latchkey-pro-2.0.0' },
    { modifiedAt: new Date('2026-02-02T00:00:00Z') },
  ]) {
    const other = await pack(t, { 'a.txt': Buffer.from('text') }, change)
    assert.notDeepEqual(other.bytes, first.bytes)
    assert.notEqual(other.archive.etag, first.archive.etag)
  }
})

test('two contents never share a salt', async (t) => {
  const one = await pack(t, { 'a.txt': Buffer.from('first') })
  const two = await pack(t, { 'a.txt': Buffer.from('other') })
  assert.notDeepEqual(
    entrySalt(one.archive, one.archive.entries[0]!),
    entrySalt(two.archive, two.archive.entries[0]!),
  )
})

test('any range equals that slice of the whole', async (t) => {
  const { bytes, archive, source } = await pack(t, {
    'a.txt': Buffer.from('small'),
    'b.bin': noise(300_000),
    empty: Buffer.alloc(0),
    'c.bin': noise(17),
  })
  const offset = fc.nat({ max: bytes.length })
  const near = fc.constantFrom(
    ...archive.entries.flatMap((entry) => [entry.at, entry.at + entry.headerBytes + 18]),
  )
  const edge = fc
    .tuple(near, fc.integer({ min: -20, max: 20 }))
    .map(([at, by]) => Math.max(0, at + by))

  await fc.assert(
    fc.asyncProperty(fc.oneof(offset, edge), fc.oneof(offset, edge), async (a, b) => {
      const [start, end] = [Math.min(a, b), Math.max(a, b)]
      assert.deepEqual(await collect(archive, source, start, end), bytes.subarray(start, end))
    }),
    { numRuns: 150 },
  )
})

test('a range reads only the entries it touches', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`${index}.bin`, noise(10_000)]),
  )
  const { archive, source } = await pack(t, files)
  let read = 0
  const counting: PackReader = {
    read(into, position) {
      read += into.length
      return source.read(into, position)
    },
  }
  await collect(archive, counting, Math.floor(archive.sizeBytes * 0.9), archive.sizeBytes)
  assert.ok(read <= 6 * 10_000, `${read} bytes read`)

  // The authentication code of an entry already written in this process is not computed again.
  read = 0
  const last = archive.entries.at(-1)
  assert.ok(last)
  await collect(archive, counting, archive.directoryAt - 1, archive.directoryAt)
  assert.equal(read, 0)
})

test('a download resumes at any position without reading the beginning again', async (t) => {
  const { archive, source } = await pack(t, { 'a.bin': noise(3_000_000) })
  const fresh = { ...archive, password: `${archive.password}-other` }

  for (const cut of [700_000, 1_500_000, 2_900_000]) {
    let sent = 0
    for await (const piece of readArchive(fresh, source, 0)) {
      sent += piece.length
      if (sent > cut) break
    }
  }
  let read = 0
  const counting: PackReader = {
    read(into, position) {
      read += into.length
      return source.read(into, position)
    },
  }
  const tail = await collect(fresh, counting, 2_800_000)
  assert.ok(read < 400_000, `${read} bytes read`)
  const again = await collect(fresh, source)
  assert.deepEqual(again.subarray(2_800_000), tail)
  assert.deepEqual(
    (await unpack(again, fresh.password))['latchkey-pro-1.0.0/a.bin'],
    noise(3_000_000),
  )
})

test('archives and entries beyond 4 GB are read by zip.js through ranges', async () => {
  // The content is made up on demand: 5 GB of it would only test the disk.
  const giant = 5 * 2 ** 30
  const last = Buffer.from('after four gigabytes')
  const source: PackReader = {
    async read(into, position) {
      into.fill(0)
      if (position === giant) last.copy(into)
    },
  }
  const archive = planArchive(
    order([
      stored('giant.bin', giant, 0, 'a'),
      stored('last.txt', last.length, giant, 'b'),
      // Keeps the giant's authentication code, which costs reading all of it, out of the tail where
      // zip.js looks for the directory.
      stored('filler.bin', 100_000, 0, 'c'),
    ]),
  )
  const reader = new ZipReader(new RangeReader(archive, source), { password: PASSWORD })
  const [big, small] = await reader.getEntries()

  assert.equal(big?.uncompressedSize, giant)
  assert.equal(small?.filename, 'latchkey-pro-1.0.0/last.txt')
  assert.ok(small && !small.directory)
  assert.deepEqual(Buffer.from(await small.getData(new Uint8ArrayWriter())), last)
})

test('more entries than 16 bits count are found by zip.js', async () => {
  const entries = Array.from({ length: 65_540 }, (_, index) => stored(`${index}`, 0, 0, `${index}`))
  const nothing: PackReader = { read: async () => {} }
  const archive = planArchive(order(entries))
  const tail = await collect(archive, nothing, archive.directoryAt + archive.directoryBytes)
  assert.equal(tail.readUInt32LE(0), 0x06064b50)
  assert.equal(tail.readBigUInt64LE(32), 65_540n)

  // Its listing of all of them takes zip.js 8 s; that it walks the wide directory shows with the
  // first.
  const reader = new ZipReader(new RangeReader(archive, nothing))
  for await (const entry of reader.getEntriesGenerator()) {
    assert.equal(entry.filename, 'latchkey-pro-1.0.0/0')
    break
  }
})

test('names that would leave the folder are refused', () => {
  for (const path of [
    '../evil',
    'a/../../evil',
    '/etc/passwd',
    'a\\..\\b',
    'C:/x',
    'a//b',
    './a',
    'a/',
    '',
    'a\0b',
    'a\nb',
  ]) {
    assert.equal(isSafePath(path), false, path)
    assert.throws(() => planArchive(order([stored(path, 1, 0, 'x')])), /unsafe name/, path)
  }
  assert.equal(isSafePath('.github/workflows/ci.yml'), true)
})

test('a reader that stops early stops the work', async (t) => {
  const { archive, source } = await pack(t, { 'a.bin': noise(2_000_000) })
  let read = 0
  const stream = Readable.from(
    readArchive(archive, {
      read(into, position) {
        read += into.length
        return source.read(into, position)
      },
    }),
  )
  for await (const chunk of stream) {
    assert.ok(chunk.length > 0)
    break
  }
  assert.ok(read < 1_000_000, `${read} bytes read for one piece`)
})

test('a large file is deflated where that helps, and stored where it does not', async (t) => {
  const files = {
    'text.txt': Buffer.alloc(3_000_000, 'all work and no play '),
    'noise.bin': randomBytes(3_000_000),
  }
  const { bytes, archive } = await pack(t, files)
  assert.deepEqual(
    archive.entries.map(({ method, packed }) => [method, packed.sizeBytes]),
    [
      [8, 3_000_000],
      [0, 3_000_000],
    ],
  )
  assert.ok(bytes.length < 3_100_000)
  assert.deepEqual(await unpack(bytes, PASSWORD), inFolder(files))
})

test('a pack is made once, shared by two callers, and made again when it is torn', async (t) => {
  const folder = temporary(t)
  let opened = 0
  const sources: PackSource[] = [
    {
      path: 'a.txt',
      sizeBytes: 4,
      tag: '1',
      executable: false,
      async open() {
        opened++
        return Readable.from([Buffer.from('text')])
      },
    },
  ]
  const [one, two] = await Promise.all([preparePack(folder, sources), preparePack(folder, sources)])
  assert.deepEqual(one, two)
  await preparePack(folder, sources)
  assert.equal(opened, 1)

  writeFileSync(join(folder, `${one.id}.pack`), 'torn and longer')
  const mended = await preparePack(folder, sources)
  assert.equal(opened, 2)
  assert.equal(mended.id, one.id)
  assert.equal(readFileSync(join(folder, `${one.id}.pack`), 'utf8'), 'text')
})

test('small files are opened sixteen at once, and lie in the pack in their order', async (t) => {
  const contents = Array.from({ length: 60 }, (_, index) =>
    noise(index === 30 ? 2_000_000 : 100 + index),
  )
  const packed = async (isHeld: boolean) => {
    let underWay = 0
    let most = 0
    const waiting: (() => void)[] = []
    const held = () => new Promise<void>((resolve) => waiting.push(resolve))
    const sources = contents.map((content, index) => ({
      path: `${String(index).padStart(2, '0')}.bin`,
      sizeBytes: content.length,
      tag: String(index),
      executable: false,
      open: async () => {
        most = Math.max(most, ++underWay)
        // Nothing comes before the window is full or nobody else asks; then the last that asked is
        // the first that gets.
        if (isHeld) {
          setImmediate(() => setImmediate(() => waiting.pop()?.()))
          await held()
        }
        underWay--
        return Readable.from([content])
      },
    }))
    return { made: await preparePack(temporary(t), sources), most }
  }
  const { made, most } = await packed(true)
  assert.equal(most, 16)
  assert.deepEqual(made, (await packed(false)).made)
  assert.deepEqual(
    made.entries.map(({ path }) => Number(path.slice(0, 2))),
    contents.map((_, index) => index),
  )
})

test('an unreadable small file fails the pack at any position', async (t) => {
  for (const bad of [0, 7, 39]) {
    const sources = Array.from({ length: 40 }, (_, index) => ({
      path: `${index}.txt`,
      sizeBytes: 4,
      tag: String(index),
      executable: false,
      open: async () =>
        index === bad
          ? Promise.reject(new Error('left the bucket'))
          : Readable.from([Buffer.from('text')]),
    }))
    const folder = temporary(t)
    await assert.rejects(preparePack(folder, sources), /left the bucket/)
    assert.deepEqual(readdirSync(folder), [])
  }
})

function filesArbitrary(): fc.Arbitrary<Files> {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !text.includes('/') && isSafePath(text))
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(...EDGE_SIZES.slice(0, 8)).map(noise),
  )
  return fc
    .uniqueArray(fc.tuple(path, content), { selector: ([at]) => at, maxLength: 8 })
    .map((pairs) => Object.fromEntries(pairs))
    .filter((files) => !Object.keys(files).includes('__proto__'))
}

async function pack(t: TestContext, files: Files, change: Partial<Order> = {}) {
  const folder = temporary(t)
  const sources = Object.entries(files).map(([path, content]) => ({
    path,
    sizeBytes: content.length,
    tag: '1',
    executable: false,
    open: async () => Readable.from(content.length > 0 ? [content] : []),
  }))
  const made = await preparePack(join(folder, 'cache'), sources)
  const source = await openPack(join(folder, 'cache'), made)
  t.after(() => source.close())
  const archive = planArchive({ ...order(made.entries), ...change })
  return { bytes: await collect(archive, source), archive, source, folder }
}

function order(entries: PackedEntry[]): Order {
  return {
    entries,
    folder: 'latchkey-pro-1.0.0',
    modifiedAt: new Date('2026-01-02T03:04:06Z'),
    password: PASSWORD,
    saltKey: Buffer.alloc(32, 1),
  }
}

function stored(path: string, sizeBytes: number, offset: number, hash: string): PackedEntry {
  const packedBytes = sizeBytes
  return { path, method: 0, sizeBytes, packedBytes, offset, hash, crc32: 0, executable: false }
}

async function collect(
  archive: Archive,
  source: PackReader,
  start?: number,
  end?: number,
): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of readArchive(archive, source, start, end)) parts.push(part)
  return Buffer.concat(parts)
}

async function unpack(bytes: Buffer, password: string): Promise<Files> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { password, checkSignature: true })
  const files: Files = {}
  for (const entry of await reader.getEntries()) {
    if (!entry.directory)
      files[entry.filename] = Buffer.from(await entry.getData(new Uint8ArrayWriter()))
  }
  return files
}

function inFolder(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`latchkey-pro-1.0.0/${path}`, content]),
  )
}

class RangeReader extends Reader<Archive> {
  archive: Archive
  source: PackReader
  constructor(archive: Archive, source: PackReader) {
    super(archive)
    this.archive = archive
    this.source = source
    this.size = archive.sizeBytes
  }
  override async readUint8Array(index: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const end = Math.min(index + length, this.size)
    return new Uint8Array(await collect(this.archive, this.source, index, end))
  }
}

/** Bytes that do not compress, the same on each run. */
function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = size + 1
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'zip-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
