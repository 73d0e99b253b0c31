import { Unreadable } from './unreadable.ts'

/**
 * Text of unknown encoding: a byte order mark decides; else UTF-8 if it is valid; else UTF-16 if every other byte is 0; else windows-1252, in which
 * almost any bytes are "valid", so bytes that no text holds are refused first.
 */
export function parsePlainText(bytes: Uint8Array): string {
  const marked = byMark(bytes)
  if (marked !== undefined) return new TextDecoder(marked).decode(bytes)

  const wide = withoutMark(bytes)
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes)
  if (isBinary(bytes)) throw new Unreadable('The file is not text: it holds binary data.')

  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function byMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return undefined
}

const SAMPLE = 4096

/** UTF-16 of mostly Latin text has its zeros all on one side. */
function withoutMark(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, SAMPLE)
  let even = 0
  let odd = 0
  for (let i = 0; i < sample.length; i++) {
    if (sample[i] !== 0) continue
    if (i % 2 === 0) even++
    else odd++
  }
  const half = sample.length / 2
  if (odd > half * 0.7 && even < half * 0.05) return 'utf-16le'
  if (even > half * 0.7 && odd < half * 0.05) return 'utf-16be'
  return undefined
}

/** A zero byte, or more than 1 % of control characters other than tab, line ends, form feed and escape. */
function isBinary(bytes: Uint8Array): boolean {
  let controls = 0
  const sample = bytes.subarray(0, 65_536)
  for (const byte of sample) if (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27 && byte !== 26) controls++
  return bytes.includes(0) || controls > sample.length / 100
}
