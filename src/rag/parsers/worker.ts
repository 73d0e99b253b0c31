import { parseDocx } from './docx.ts'
import { parsePdf } from './pdf.ts'
import { parsePlainText } from './plain-text.ts'

export type Format = 'text' | 'pdf' | 'docx'

export interface Task {
  format: Format
  bytes: Uint8Array
}

/** Expected failures are returned, not thrown: an error loses its class on the way between threads. */
export type Outcome = { text: string } | { unreadable: string }

export async function parse({ format, bytes }: Task): Promise<Outcome> {
  try {
    const text = await parsers[format](bytes)
    // A lone surrogate cannot be stored as UTF-8, and PostgreSQL takes no NUL.
    return { text: text.toWellFormed().replaceAll('\0', '') }
  } catch (error) {
    if ((error as Error).name === 'Unreadable') return { unreadable: (error as Error).message }
    throw error
  }
}

const parsers = { text: parsePlainText, pdf: parsePdf, docx: parseDocx }
