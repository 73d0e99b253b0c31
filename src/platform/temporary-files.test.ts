// Temporary files: nothing of a body stays after any end, and no process removes another's.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { platformProblem } from './problems.ts'
import { createTemporaryFiles } from './temporary-files.ts'

function made(t: TestContext, memoryBytes = 1_000) {
  const root = mkdtempSync(join(tmpdir(), 'temporary-files-'))
  const files = createTemporaryFiles(root, { memoryBytes })
  t.after(() => {
    files.close()
    rmSync(root, { recursive: true, force: true })
  })
  return { root, files }
}

const log = { warn: (details: unknown) => assert.fail(JSON.stringify(details)) }

const kept = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
    .map((entry) => join(entry.parentPath, entry.name))

test('long input is stored unchanged in a file that only its owner can read; short input stays in memory', async (t) => {
  const { root, files } = made(t)
  const bytes = randomBytes(300_000)
  const hash = createHash('sha256')
  const content = await files.take(Readable.from(cut(bytes, 7_777)), { hash })

  assert.equal(content.sizeBytes, bytes.length)
  assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'))
  assert.ok(bytes.equals(await content.read(0, bytes.length)))
  assert.ok(bytes.subarray(1_234, 5_678).equals(await content.read(1_234, 5_678)))
  assert.ok(bytes.subarray(299_000).equals(await content.read(299_000, 999_999)))
  const [path = ''] = kept(root)
  assert.equal(content.place, path)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)

  const short = await files.take(Readable.from(cut(bytes.subarray(0, 1_000), 300)))
  assert.ok(bytes.subarray(0, 1_000).equals(short.place as Uint8Array))
  assert.equal(kept(root).length, 1)
  content.remove()
  content.remove()
  assert.deepEqual(kept(root), [])
})

test('an input that is too long, aborted or rejected leaves no file', async (t) => {
  const { root, files } = made(t)
  const tooLong = Readable.from(cut(randomBytes(50_000), 999))
  await assert.rejects(files.take(tooLong, { bytesMax: 20_000 }), { code: 'body_too_large' })
  assert.equal(tooLong.destroyed, false, 'who sends it shall get a reply')

  for (const end of [
    (stream: PassThrough) => stream.destroy(),
    (stream: PassThrough) => stream.destroy(new Error('aborted')),
    (stream: PassThrough) => stream.emit('error', platformProblem('request_timeout')),
  ]) {
    const stream = new PassThrough()
    const taken = files.take(stream)
    stream.write(randomBytes(30_000))
    while (kept(root).length === 0) await new Promise(setImmediate)
    end(stream)
    await assert.rejects(taken, (error: Error & { statusCode?: number; code?: string }) => {
      return error.statusCode === 400 || error.code === 'request_timeout'
    })
    assert.deepEqual(kept(root), [])
  }
  const gone = new PassThrough()
  gone.destroy()
  await assert.rejects(files.take(gone), { statusCode: 400 })
})

test('a full disk is reported', async (t) => {
  // The kernel's own full disk: every write to it fails with ENOSPC, and nothing can be made below
  // it.
  const files = createTemporaryFiles('/dev/full/tmp', { memoryBytes: 1_000 })
  t.after(files.close)
  const taken = files.take(Readable.from(cut(randomBytes(5_000), 500)))
  await assert.rejects(taken, { code: 'upload_not_taken', status: 503 })
  assert.throws(files.create, { code: 'upload_not_taken' })
})

test('a folder that is removed under a process is made again', async (t) => {
  const { root, files } = made(t)
  const long = () => files.take(Readable.from(cut(randomBytes(5_000), 500)))
  await long()
  for (const removed of [() => root, () => join(root, readdirSync(root)[0] ?? '')]) {
    rmSync(removed(), { recursive: true })
    const content = await long()
    assert.equal((await content.read(0, 5_000)).length, 5_000)
    files.create().remove()
  }
  assert.equal(readdirSync(root).length, 1)
})

test('a sweep continues after a file that it cannot remove', async (t) => {
  const { root, files } = made(t)
  const failed: unknown[] = []
  const telling = {
    warn: (details: { folder: string }) => failed.push(details.folder),
  } as unknown as typeof log
  mkdirSync(join(root, 'left'))
  writeFileSync(join(root, 'left', 'some'), 'bytes')
  writeFileSync(join(root, 'a-plain-file'), '')
  assert.equal(files.sweep(telling), 1)
  assert.deepEqual(failed, [join(root, 'a-plain-file')])
  assert.deepEqual(readdirSync(root), ['a-plain-file'])

  const noFolder = createTemporaryFiles(join(root, 'a-plain-file'), { memoryBytes: 1_000 })
  assert.equal(noFolder.sweep(telling), 0)
  assert.equal(failed.length, 2)
})

test('a start removes the files of killed processes, and no file in use', async (t) => {
  const { root, files } = made(t)
  const content = await files.take(Readable.from(cut(randomBytes(5_000), 500)))
  const killed = fork(import.meta.filename, [root], {
    env: { ...process.env, TAKES_AND_WAITS: '1' },
  })
  await once(killed, 'message')
  assert.equal(kept(root).length, 2)
  const next = createTemporaryFiles(root, { memoryBytes: 1_000 })
  assert.equal(next.sweep(log), 0)

  killed.kill('SIGKILL')
  await once(killed, 'exit')
  assert.equal(next.sweep(log), 1)
  assert.deepEqual(kept(root), [content.place])
  assert.equal((await content.read(0, 10)).length, 10)

  files.close()
  assert.deepEqual(readdirSync(root), [])
  await assert.rejects(files.take(Readable.from(cut(randomBytes(5_000), 500))), {
    code: 'upload_not_taken',
  })
})

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

/** As the process that is killed. */
if (process.env.TAKES_AND_WAITS) {
  const files = createTemporaryFiles(process.argv[2] ?? '', { memoryBytes: 1_000 })
  void files.take(Readable.from(cut(randomBytes(5_000), 500))).then(() => {
    process.send?.('taken')
    setInterval(() => {}, 1_000)
  })
}

test('a long body of one chunk is stored in a file whose handle is closed', async (t) => {
  const { root, files } = made(t)
  const bytes = randomBytes(300_000)

  const content = await files.take(Readable.from([bytes]))

  assert.deepEqual(kept(root), [content.place])
  assert.ok(bytes.equals(await content.read(0, bytes.length)))
  content.remove()
  assert.deepEqual(kept(root), [])
})
