import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { readBytes } from '#platform/content.ts'
import { lowerThreadPriority } from '#platform/thread-priority.ts'
import type { Format } from './formats.ts'
import type { Reading, Warning } from './unreadable.ts'
import { type Outcome, type Task, UNKNOWN } from './worker-task.ts'

lowerThreadPriority()

/** Longer texts do not cross threads: the worker that cuts them reads them from a file. */
const LONG_CHARACTERS = 500_000

export async function parse({ format, ending, place, longPath, start }: Task): Promise<Outcome> {
  Atomics.store(start, 1, cpuMs())
  Atomics.store(start, 0, threadId)
  try {
    const {
      text,
      outline = {},
      warnings,
    } = await (await parsers[format]())(readBytes(place), ending)
    // A lone surrogate cannot be stored as UTF-8, and PostgreSQL rejects NUL. The length stays
    // equal, because the outline counts characters.
    const clean = text.toWellFormed().replaceAll('\0', ' ')
    if (clean.trim() === '') return { unreadable: explainMissingText(warnings) }
    if (clean.length <= LONG_CHARACTERS) return { text: clean, outline, warnings }
    if (longPath === null) return { needsFile: true }
    const utf8 = new TextEncoder().encode(clean)
    // Without `r+`, a removed file would be created again, and nothing would remove it.
    writeFileSync(longPath, utf8, { flag: 'r+' })
    return { utf8Bytes: utf8.byteLength, outline, warnings }
  } catch (error) {
    if ((error as Error).name === 'Unreadable') return { unreadable: (error as Error).message }
    throw error
  }
}

function explainMissingText(warnings: readonly Warning[]): string {
  const reasons = new Set(warnings.map(({ reason }) => reason))
  return reasons.size === 0
    ? 'The file has no text.'
    : `The file has no text that can be read. ${[...reasons].join(' ')}`
}

/** Returns the CPU time of this thread; some systems do not count it. */
function cpuMs(): number {
  try {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  } catch {
    return UNKNOWN
  }
}

type Parse = (bytes: Uint8Array, ending: string) => Reading | Promise<Reading>

const plainText = async (bytes: Uint8Array) =>
  (await import('./plain-text.ts')).parsePlainText(bytes)

/** Each parser is loaded for the first file that needs it. */
const parsers: Record<Format, () => Parse | Promise<Parse>> = {
  ole: async () => (await import('./ole.ts')).parseOle,
  text: () => async (bytes) => ({ text: await plainText(bytes), warnings: [] }),
  // In code a # begins a comment, not a heading.
  code: () => async (bytes) => ({
    text: await plainText(bytes),
    outline: { headings: [] },
    warnings: [],
  }),
  csv: async () => (await import('./csv.ts')).parseCsv,
  html: async () => (await import('./html.ts')).parseHtml,
  pdf: async () => (await import('./pdf.ts')).parsePdf,
  docx: async () => (await import('./docx.ts')).parseDocx,
  xlsx: async () => (await import('./xlsx.ts')).parseXlsx,
  pptx: async () => (await import('./pptx.ts')).parsePptx,
  opendocument: async () => (await import('./opendocument.ts')).parseOpenDocument,
  rtf: async () => (await import('./rtf.ts')).parseRtf,
  eml: async () => (await import('./eml.ts')).parseEml,
  ipynb: async () => (await import('./ipynb.ts')).parseIpynb,
  subtitles: async () => (await import('./subtitles.ts')).parseSubtitles,
  epub: async () => (await import('./epub.ts')).parseEpub,
}
