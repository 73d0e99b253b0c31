// Counts a PDF's pages without parsing it: page objects are plain, or in compressed streams.
import { constants, inflateSync } from 'node:zlib'

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g
const OBJECT_STREAM = /\/ObjStm\b/g
const STREAM_BYTES_MAX = 1024 * 1024

/** Bytes still to decompress over all files of a request: some are decompression bombs. */
export type InflateBudget = { bytes: number; streams: number }

export function createInflateBudget(): InflateBudget {
  return { bytes: 16 * STREAM_BYTES_MAX, streams: 2_000 }
}

/** Returns null without page objects (encrypted, damaged, no PDF) or beyond the budget. */
export function countPdfPages(file: Buffer, budget: InflateBudget): number | null {
  const text = file.toString('latin1')
  let pages = countPages(text)
  const marks = new RegExp(OBJECT_STREAM)
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const stream = findStream(text, mark.index)
    if (stream === null) break
    if (budget.bytes <= 0 || budget.streams <= 0) return null
    const inflated = inflate(file.subarray(stream.start, stream.end))
    budget.streams--
    // A stream that was too large also used its part of the budget.
    budget.bytes -= inflated?.length ?? STREAM_BYTES_MAX
    pages += countPages(inflated ?? '')
    // Skips marks inside this stream, and a second mark before it.
    marks.lastIndex = stream.end
  }
  return pages === 0 ? null : pages
}

function countPages(text: string): number {
  return text.match(PAGE)?.length ?? 0
}

/** Finds the stream of the object whose dictionary contains `index`. */
function findStream(text: string, index: number): { start: number; end: number } | null {
  const word = text.indexOf('stream', index)
  if (word === -1) return null
  const start = word + 'stream'.length + (text.startsWith('\r\n', word + 'stream'.length) ? 2 : 1)
  const end = text.indexOf('endstream', start)
  return { start, end: end === -1 ? text.length : end }
}

function inflate(stream: Buffer): string | null {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: STREAM_BYTES_MAX }
    return inflateSync(stream, options).toString('latin1')
  } catch {
    return null
  }
}
