import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inMemory } from '#platform/content.ts'
import type { Problem } from '#platform/problem.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { buildDocx, paragraph } from '#testing/office-samples.ts'
import { createParser, type Limits } from './parser.ts'

const files = createTemporaryFiles(join(tmpdir(), `limits-${randomUUID()}`), { memoryBytes: 1_000 })
after(() => files.close())

const PLENTY_MS = 10 * 60_000
/** Takes a few tenths of a second of CPU time, with the loading of the parser. */
const SHORT = buildDocx(paragraph('A short text.').repeat(20_000))
/** Ends by itself, also when this process is killed. */
const LOOP = 'for (const start = Date.now(); Date.now() - start < 60_000; );'
/** Takes several seconds of CPU time on any machine. */
const LONG = buildDocx('<w:p></w:p>'.repeat(10_000_000))

async function read(bytes: Uint8Array, limits: Partial<Limits>): Promise<string | Problem> {
  const parser = createParser({ temporaryFiles: files, log: createLog('silent') }, limits)
  try {
    const { text } = await parser.read('a.docx', inMemory(bytes), new AbortController().signal)
    return String(text).slice(0, 13)
  } catch (error) {
    return error as Problem
  } finally {
    await parser.close()
  }
}

test('reads a file even when its thread gets little CPU', async (t) => {
  // Processes, not threads: loops in this process multiply the CPU time of its other threads.
  const loops = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', LOOP]))
  t.after(() => loops.map((loop) => loop.kill('SIGKILL')))

  assert.equal(await read(SHORT, { cpuMs: 2_000, wallMs: PLENTY_MS }), 'A short text.')
})

test('refuses a file that takes too much CPU time with 422', async () => {
  const problem = (await read(LONG, { cpuMs: 300, wallMs: PLENTY_MS })) as Problem

  assert.deepEqual([problem.status, problem.code], [422, 'file_unreadable'])
  assert.match(JSON.stringify(problem.detail), /takes too long to read/)
})

test('returns 503 with Retry-After when the thread got too little CPU', async () => {
  const problem = (await read(LONG, { cpuMs: PLENTY_MS, wallMs: 600 })) as Problem

  assert.deepEqual([problem.status, problem.code], [503, 'parser_busy'])
  assert.match(JSON.stringify(problem.headers), /"Retry-After":"\d+"/)
})
