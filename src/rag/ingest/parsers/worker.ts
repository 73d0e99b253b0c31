import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { bytesAt, type Place } from '#platform/content.ts'
import { giveWay } from '#platform/give-way.ts'
import type { Outline } from '../outline.ts'
import { parseCsv } from './csv.ts'
import { parseDocx } from './docx.ts'
import { parseEpub } from './epub.ts'
import { parseHtml } from './html.ts'
import { parseOle } from './ole.ts'
import { parsePdf } from './pdf.ts'
import { parsePlainText } from './plain-text.ts'
import { parsePptx } from './pptx.ts'
import type { Reading, Warning } from './unreadable.ts'
import { parseXlsx } from './xlsx.ts'

/** `ole`: Office wraps what it encrypts, and everything before 2007, in such a container, which is not read. */
export type Format = 'ole' | 'text' | 'code' | 'csv' | 'html' | 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'epub'

export type Task = {
  format: Format
  /** Of the file's name. */
  ending: string
  place: Place
  /** Of an empty file for a long text; null: none has been made yet. */
  longPath: string | null
  /** Where the worker leaves its thread's id, so that its memory can be watched. */
  threadId: Int32Array
}

/** Expected failures are returned, not thrown: an error loses its class on the way between threads. */
export type Outcome =
  | { text: string; outline: Outline; warnings: Warning[] }
  | { utf8Bytes: number; outline: Outline; warnings: Warning[] }
  | { unreadable: string }
  | { needsFile: true }

giveWay()

/** Longer texts do not travel: the worker that cuts them reads them from their file. */
const LONG_CHARACTERS = 500_000

export async function parse({ format, ending, place, longPath, threadId: told }: Task): Promise<Outcome> {
  Atomics.store(told, 0, threadId)
  try {
    const { text, outline = {}, warnings } = await parsers[format](bytesAt(place), ending)
    // A lone surrogate cannot be stored as UTF-8, and PostgreSQL takes no NUL. As long as before: the outline counts characters.
    const clean = text.toWellFormed().replaceAll('\0', ' ')
    if (clean.trim() === '') return { unreadable: 'The file has no text.' }
    if (clean.length <= LONG_CHARACTERS) return { text: clean, outline, warnings }
    if (longPath === null) return { needsFile: true }
    const utf8 = new TextEncoder().encode(clean)
    // Made anew where it was removed meanwhile it would be nobody's.
    writeFileSync(longPath, utf8, { flag: 'r+' })
    return { utf8Bytes: utf8.byteLength, outline, warnings }
  } catch (error) {
    if ((error as Error).name === 'Unreadable') return { unreadable: (error as Error).message }
    throw error
  }
}

const parsers: Record<Format, (bytes: Uint8Array, ending: string) => Reading | Promise<Reading>> = {
  ole: parseOle,
  text: async (bytes) => ({ text: await parsePlainText(bytes), warnings: [] }),
  // A # begins a comment there, and no heading.
  code: async (bytes) => ({ text: await parsePlainText(bytes), outline: { headings: [] }, warnings: [] }),
  csv: parseCsv,
  html: parseHtml,
  pdf: parsePdf,
  docx: parseDocx,
  xlsx: parseXlsx,
  pptx: parsePptx,
  epub: parseEpub,
}
