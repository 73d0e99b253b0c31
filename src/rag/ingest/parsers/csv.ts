/** Comma-separated values (RFC 4180; also semicolons, tabs) as a table. Other text stays. */
import { type CsvError, parse } from 'csv-parse/sync'
import { parsePlainText } from './plain-text.ts'
import { markdownTable } from './table.ts'
import type { Reading } from './unreadable.ts'

export async function parseCsv(bytes: Uint8Array): Promise<Reading> {
  const text = await parsePlainText(bytes)
  const rows = readTable(text.replace(/^\ufeff/, ''))
  return {
    text: rows === null ? text : markdownTable(rows),
    outline: { headings: [] },
    warnings: [],
  }
}

/** Null where rows differ in their number of cells: no table, or another separator. */
function readTable(text: string): string[][] | null {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const separators = [',', ';', '\t'].sort((a, b) => first.split(b).length - first.split(a).length)
  const rows = readRows(text, separators[0] as string)
  const width = rows?.[0]?.length ?? 0
  if (rows === null || rows.length < 2 || width < 2) return null
  const odd = rows.filter((row) => row.length !== width).length
  return odd > rows.length / 20 ? null : rows
}

/** Returns null for a text with unclosed quotes. */
function readRows(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_records_with_empty_values: true,
    })
  } catch (error) {
    if ((error as CsvError).code === 'CSV_QUOTE_NOT_CLOSED') return null
    throw error
  }
}
