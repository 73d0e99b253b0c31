// Counts a PDF's pages without reading it: page objects stand in the file as they are, or since PDF 1.5 in compressed streams.
import { constants, inflateSync } from 'node:zlib'

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g
const OBJECT_STREAM = /\/ObjStm\b/g
/** Of a file made to be large when it is opened, no more than this is looked at. */
const STREAMS_MAX = 2_000
const STREAM_BYTES_MAX = 1024 * 1024
const INFLATED_BYTES_MAX = 32 * STREAM_BYTES_MAX

/** Null when none are found: encrypted, damaged, or no PDF. */
export function pdfPages(file: Buffer): number | null {
  const text = file.toString('latin1')
  let pages = count(text)
  let left = INFLATED_BYTES_MAX
  let streams = 0
  for (const { index } of text.matchAll(OBJECT_STREAM)) {
    if (left <= 0 || ++streams > STREAMS_MAX) break
    const inflated = inflatedAfter(file, text, index)
    left -= inflated.length
    pages += count(inflated)
  }
  return pages === 0 ? null : pages
}

function count(text: string): number {
  return text.match(PAGE)?.length ?? 0
}

/** The stream of the object whose dictionary holds `index`. */
function inflatedAfter(file: Buffer, text: string, index: number): string {
  const word = text.indexOf('stream', index)
  if (word === -1) return ''
  const start = word + 'stream'.length + (text.startsWith('\r\n', word + 'stream'.length) ? 2 : 1)
  const end = text.indexOf('endstream', start)
  try {
    return inflateSync(file.subarray(start, end === -1 ? undefined : end), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: STREAM_BYTES_MAX,
    }).toString('latin1')
  } catch {
    return ''
  }
}
