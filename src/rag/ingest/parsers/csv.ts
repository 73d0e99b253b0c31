/** Comma-separated values (RFC 4180, and with semicolons or tabs) as a table, whose head then goes with each piece. What is no table stays as it is. */
import { parsePlainText } from './plain-text.ts'
import { markdownTable } from './table.ts'
import type { Reading } from './unreadable.ts'

export async function parseCsv(bytes: Uint8Array): Promise<Reading> {
  const text = await parsePlainText(bytes)
  const rows = tableIn(text.replace(/^\ufeff/, ''))
  return { text: rows === null ? text : markdownTable(rows), outline: { headings: [] }, warnings: [] }
}

/** Null where rows do not agree on how many cells they have: then it is no table, or its separator is another. */
function tableIn(text: string): string[][] | null {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const separators = [',', ';', '\t'].sort((a, b) => first.split(b).length - first.split(a).length)
  const rows = rowsOf(text, separators[0] as string)
  const width = rows[0]?.length ?? 0
  if (rows.length < 2 || width < 2) return null
  const odd = rows.filter((row) => row.length !== width).length
  return odd > rows.length / 20 ? null : rows
}

function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      at++
      for (;;) {
        const quote = text.indexOf('"', at)
        cell += text.slice(at, quote < 0 ? text.length : quote)
        at = quote < 0 ? text.length : quote + 1
        if (text[at] !== '"' || quote < 0) break
        cell += '"'
        at++
      }
    }
    let end = at
    while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end++
    row.push(cell + text.slice(at, end))
    at = end + 1
    if (text[end] === separator && at < text.length) continue
    if (text[end] === separator) row.push('')
    if (text[end] === '\r' && text[at] === '\n') at++
    if (row.some((one) => one.trim() !== '')) rows.push(row)
    row = []
  }
  return rows
}
