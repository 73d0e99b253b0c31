// Detects encodings. Byte order marks and UTF-8 are certain; UTF-16 shows by its spaces and stops;
// jschardet's statistics rank the rest. The trap: some bytes read well in several encodings, so a
// guess without a distant runner-up is refused.
import { Unreadable } from './unreadable.ts'

/** @throws Unreadable for binary data, damaged UTF-8 and ambiguous encodings */
export async function parsePlainText(bytes: Uint8Array): Promise<string> {
  const mark = detectMark(bytes)
  if (mark !== undefined) return decode(mark, bytes) ?? refuse(describeDamage(mark))
  if (!bytes.includes(0)) {
    const text = decode(bytes.includes(ESCAPE) ? decodeEscaped(bytes) : 'utf-8', bytes)
    if (text !== undefined) return isBinary(bytes) ? refuse(BINARY) : text
  }
  const wide = decodeWide(bytes)
  if (wide !== undefined) return wide
  if (isBinary(bytes)) refuse(BINARY)
  if (isMostlyUtf8(bytes)) refuse(describeDamage('utf-8'))
  return decodePunctuated(bytes) ?? (await guessEncoding(bytes))
}

const BINARY = 'The file is not text: it holds binary data.'
const UNSURE = 'The encoding of this text file is ambiguous. Save it as UTF-8 and send it again.'

function describeDamage(label: string): string {
  return `The file is ${label.toUpperCase()}, but some of its bytes are damaged. Save it anew as UTF-8 and send it again.`
}

function refuse(reason: string): never {
  throw new Unreadable(reason)
}

function decode(label: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function detectMark([a, b, c, d]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  // UTF-32 begins with the same two bytes; TextDecoder does not support it.
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? refuse(UNSURE) : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return undefined
}

const ESCAPE = 0x1b

/** ISO-2022-JP switches by ESC $ or ESC ( with a letter; other escapes colour a terminal. */
function decodeEscaped(bytes: Uint8Array): string {
  const switches = bytes.some(
    (byte, i) => byte === ESCAPE && bytes[i + 1] === 0x24 && /[@AB(]/.test(at(bytes, i + 2)),
  )
  return switches ? 'iso-2022-jp' : 'utf-8'
}

function at(bytes: Uint8Array, i: number): string {
  return String.fromCharCode(bytes[i] ?? 0)
}

/** A zero byte, or more than 1 % of unusual control characters. */
function isBinary(bytes: Uint8Array): boolean {
  let controls = 0
  const sample = bytes.subarray(0, 65_536)
  for (const byte of sample)
    if (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== ESCAPE && byte !== 26) controls++
  return bytes.includes(0) || controls > sample.length / 100
}

/** Separators in all scripts: longer texts have some, and swapped bytes make them rare ones. */
const separators = /[ \n\u3000-\u3002\uff0c\uff01\uff1f\u060c]/gu
/** The letters and signs of today's scripts. */
const usual =
  /^[\t\n\f\r\x20-\x7e\u00a0-\u058f\u0590-\u06ff\u0900-\u0dff\u0e00-\u0eff\u10a0-\u11ff\u1e00-\u1fff\u200b-\u206f\u20a0-\u22ff\u2500-\u27bf\u3000-\u30ff\u3131-\u318e\u4e00-\u9fff\uac00-\ud7a3\uff01-\uffe6\u{1f300}-\u{1faff}]*$/u
const SEPARATORS_A_CHARACTER = 1 / 200
const WIDE_SAMPLE = 65_536

/** Decodes UTF-16 without a mark, when exactly one byte order gives text. */
function decodeWide(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 === 1) return undefined
  const sample = bytes.subarray(0, WIDE_SAMPLE)
  const readings = ['utf-16le', 'utf-16be'].flatMap((label) => {
    const text = new TextDecoder(label).decode(sample, { stream: true })
    const separated = text.match(separators)?.length ?? 0
    // A single word has no separator: Latin letters prove the order by the zeros between them.
    const reads =
      separated > text.length * SEPARATORS_A_CHARACTER || /^[\x20-\x7e\u00a0-\u017f]+$/.test(text)
    return reads && usual.test(text) ? { label, separated } : []
  })
  const [best, other] = readings.sort((a, b) => b.separated - a.separated)
  return best !== undefined && best.separated > (other?.separated ?? -1)
    ? decode(best.label, bytes)
    : undefined
}

/** UTF-8 sequences are rare by chance: where they outnumber odd bytes, it once was UTF-8. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  const sample = sampleText(bytes)
  const text = new TextDecoder('utf-8').decode(sample)
  const broken = text.match(/\ufffd/g)?.length ?? 0
  const whole = text.match(/[\u{80}-\u{fffc}\u{10000}-\u{10ffff}]/gu)?.length ?? 0
  return whole >= broken
}

/** Typographic marks alone ("it’s", “so” – 20 €) are equal in all Western Windows encodings. */
function decodePunctuated(bytes: Uint8Array): string | undefined {
  if (bytes.some((byte) => byte > 0x7f && !punctuation.has(byte))) return undefined
  const text = decode('windows-1252', bytes)
  return text === undefined || misplaced.test(text) ? undefined : text
}

const punctuation = new Set([
  0x80, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0xa0, 0xa9, 0xab, 0xae, 0xb0,
  0xb7, 0xbb,
])
const apostrophe = {
  /** it’s, isn’t */
  english: '(?:s|t|d|m|re|ve|ll)(?!\\p{L})',
  /** l’été, qu’il, aujourd’hui, dell’arte */
  elided:
    '(?<!\\p{L})(?:[cdjlmnst]|(?:jus|lors|puis|quoi|pres)?qu|entr|aujourd|(?:a|da|de|ne|su|que|be)ll|un|sant|quest|anch|com|dov|cos|tutt)',
}
/** In Mac and DOS encodings these bytes are letters, at positions where such signs do not occur. */
const misplaced = new RegExp(
  [
    '(?<=\\p{L})[‘„«]|(?<=\\p{L})[©®°\\u00a0€•·“”…»™](?=\\p{L})|(?<=\\p{L})–(?=\\p{Ll})|—n(?!\\p{L})',
    `(?<=\\p{L})(?<!${apostrophe.elided})’(?=\\p{L})(?!${apostrophe.english})`,
  ].join('|'),
  'iu',
)

/** Below this many bytes beyond ASCII the statistics are weak. */
const FEW = 30
const VERY_FEW = 10
/** With a smaller lead over the runner-up, the wrong guess may be first. */
function findMargin({ label }: Reading, beyondAscii: number): number {
  if (beyondAscii >= FEW) return 1
  return beyondAscii < VERY_FEW && label !== 'windows-1252' ? 0.75 : 0.9
}
const CONFIDENCE_MIN = 0.005
/** Factors for weak statistics, from the share of files in each encoding. */
const priors: Record<string, number> = {
  'windows-1252': 1.3,
  macintosh: 0.85,
  'x-mac-cyrillic': 0.85,
}
const SAMPLE_MAX = 100_000

type Reading = { label: string; confidence: number; text: string }

async function guessEncoding(bytes: Uint8Array): Promise<string> {
  const { detectAll } = await import('jschardet')
  const sample = sampleText(bytes)
  const beyondAscii = sample.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0)
  const isThin = beyondAscii < FEW
  const ranked = detectAll(sample, { minimumThreshold: 0 }).flatMap(({ encoding, confidence }) =>
    encoding === null ? [] : { label: normalizeLabel(encoding), confidence },
  )
  const [first] = ranked
  // A word of a few foreign letters is a word in many scripts.
  if (beyondAscii < VERY_FEW && !sample.some((byte) => (byte | 32) >= 0x61 && (byte | 32) <= 0x7a))
    refuse(UNSURE)
  // DOS and mainframe encodings, which no decoder here reads: a few bytes prove nothing, more do.
  if (first === undefined || (beyondAscii >= VERY_FEW && decode(first.label, sample) === undefined))
    refuse(UNSURE)

  const readings = new Map<string, Reading>()
  for (const { label, confidence } of ranked) {
    const text = decode(label, sample)
    if (text === undefined || readings.has(text) || !reads(text, label, beyondAscii)) continue
    readings.set(text, {
      label,
      text,
      confidence: isThin ? confidence * (priors[label] ?? 1) : confidence,
    })
  }
  const [best, other] = [...readings.values()].sort((a, b) => b.confidence - a.confidence)
  if (best === undefined || best.confidence < CONFIDENCE_MIN || rare.has(best.label)) refuse(UNSURE)
  if (isThin && best.label.includes('mac')) refuse(UNSURE)
  if (other !== undefined && other.confidence > best.confidence * findMargin(best, beyondAscii))
    refuse(UNSURE)

  const text = decode(best.label, bytes)
  return text === undefined || unassigned.test(text) ? refuse(UNSURE) : text
}

/** Files do not use these; a match means that the detector missed the real encoding. */
const rare = new Set(['iso-8859-3', 'iso-8859-10', 'iso-8859-14', 'iso-8859-16', 'windows-1258'])

/** Converts the detector's names to the WHATWG labels of TextDecoder. */
function normalizeLabel(name: string): string {
  const plain = name.toLowerCase()
  return whatwg[plain] ?? plain.replace(/^iso8859-/, 'iso-8859-').replace(/^cp125/, 'windows-125')
}

const whatwg: Record<string, string> = {
  cp866: 'ibm866',
  cp874: 'windows-874',
  'tis-620': 'windows-874',
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  big5hkscs: 'big5',
  macroman: 'macintosh',
  maccyrillic: 'x-mac-cyrillic',
}

const scripts: [RegExp, RegExp][] = [
  [/1251|koi8|iso-8859-5|866|cyrillic/, /\p{Script=Cyrillic}/u],
  [/1253|iso-8859-7/, /\p{Script=Greek}/u],
  [/1255|iso-8859-8/, /\p{Script=Hebrew}/u],
  [/1256|iso-8859-6/, /\p{Script=Arabic}/u],
  [/874/, /\p{Script=Thai}/u],
]
const foreign =
  '\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Thai}'
/** Two scripts in one word, a capital or a sign inside it, a separate accent next to a letter. */
const odd = new RegExp(
  [
    `(?![µμΩ])(?:(?<=\\p{Script=Latin})[${foreign}]|[${foreign}](?=\\p{Script=Latin}))`,
    '(?<=\\p{Ll})(?![A-Z])\\p{Lu}(?!\\p{Lu}{2})|(?<=\\p{L})(?![A-Z])\\p{Lu}(?=\\p{Ll})',
    '(?<=\\p{L})(?![\\x00-\\x7f’‘ʼ·•–—…\\u00ad\\u200b-\\u200f‐‑\\u3000-\\u303f\\uff00-\\uffef])[\\p{S}\\p{P}\\p{No}](?=\\p{L})',
    '(?<=\\p{L})[¡¿‚„‹ˇ˙˘˛˝¨¸´ˆ˜¯]|[ˇ˙˘˛˝¨¸´ˆ˜¯](?=\\p{L})',
    '(?![\\t\\n\\v\\f\\r\\b\\x1a\\x1b])\\p{Cc}',
  ].join('|'),
  'gu',
)
const unassigned = /[\p{Cn}\p{Co}\ufffd]/u

function reads(text: string, label: string, beyondAscii: number): boolean {
  const script = scripts.find(([of]) => of.test(label))?.[1]
  if (script !== undefined && !script.test(text)) return false
  if (script === undefined && beyondAscii < FEW && misplaced.test(text)) return false
  const oddities = text.match(odd)?.length ?? 0
  return oddities <= (beyondAscii < 50 ? 0 : beyondAscii / 50)
}

/** Returns the start of a text, or, for a long one, its lines beyond ASCII. */
function sampleText(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= SAMPLE_MAX) return bytes
  const sample = new Uint8Array(SAMPLE_MAX)
  let filled = 0
  for (let from = 0; from < bytes.length && filled < SAMPLE_MAX; ) {
    const end = bytes.indexOf(0x0a, from)
    const line = bytes.subarray(from, Math.min(end < 0 ? bytes.length : end + 1, from + SAMPLE_MAX))
    if (line.some((byte) => byte > 0x7f) && filled + line.length <= SAMPLE_MAX) {
      sample.set(line, filled)
      filled += line.length
    }
    from += line.length
  }
  return filled === 0 ? bytes.subarray(0, SAMPLE_MAX) : sample.subarray(0, filled)
}
