import { threadId } from 'node:worker_threads'
import type { Outline } from '../outline.ts'
import { parseCsv } from './csv.ts'
import { parseDocx } from './docx.ts'
import { parseEpub } from './epub.ts'
import { parseHtml } from './html.ts'
import { parsePdf } from './pdf.ts'
import { parsePlainText } from './plain-text.ts'
import { parsePptx } from './pptx.ts'
import type { Reading, Warning } from './unreadable.ts'
import { parseXlsx } from './xlsx.ts'

export type Format = 'text' | 'code' | 'csv' | 'html' | 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'epub'

export type Task = {
  format: Format
  bytes: Uint8Array
  /** Where the worker leaves its thread's id, so that its memory can be watched. */
  threadId: Int32Array
}

/** Expected failures are returned, not thrown: an error loses its class on the way between threads. */
export type Outcome =
  | { text: string; outline: Outline; warnings: Warning[] }
  | { utf8: Uint8Array; outline: Outline; warnings: Warning[] }
  | { unreadable: string }

/** Longer texts travel as bytes, which is quicker, and go on to the worker that cuts them. */
const LONG_CHARACTERS = 500_000

export async function parse({ format, bytes, threadId: told }: Task): Promise<Outcome> {
  Atomics.store(told, 0, threadId)
  try {
    const { text, outline = {}, warnings } = await parsers[format](bytes)
    // A lone surrogate cannot be stored as UTF-8, and PostgreSQL takes no NUL. As long as before: the outline counts characters.
    const clean = text.toWellFormed().replaceAll('\0', ' ')
    if (clean.trim() === '') return { unreadable: 'The file has no text.' }
    return clean.length > LONG_CHARACTERS
      ? { utf8: new TextEncoder().encode(clean), outline, warnings }
      : { text: clean, outline, warnings }
  } catch (error) {
    if ((error as Error).name === 'Unreadable') return { unreadable: (error as Error).message }
    throw error
  }
}

const parsers: Record<Format, (bytes: Uint8Array) => Reading | Promise<Reading>> = {
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
