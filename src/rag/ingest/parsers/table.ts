/** Limit of empty cells that fill short rows; beyond it the rows stay ragged. */
const FILLED_MAX = 1_000_000

/** The first row is the header; a single row is written without a table. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  // There may be more rows than a call may have arguments.
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0)
  const missing = rows.reduce((sum, { length }) => sum + width - length, 0)
  const countCells = (row: readonly string[]) => (missing > FILLED_MAX ? row.length : width)
  const [head = [], ...rest] = rows
  if (rows.length < 2) return rows.length === 0 ? '' : markdownRow(head, countCells(head))
  const rule = `| ${Array.from({ length: countCells(head) }, () => '---').join(' | ')} |`
  return [
    markdownRow(head, countCells(head)),
    rule,
    ...rest.map((row) => markdownRow(row, countCells(row))),
  ].join('\n')
}

/** Limit of tables in tables: deeper content is text of the innermost one. */
export const TABLES_DEEP_MAX = 20

export function markdownRow(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, i) => writeCell(row[i] ?? ''))
  return `| ${cells.join(' | ')} |`
}

function writeCell(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
}
