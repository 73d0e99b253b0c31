/** A table as Markdown, its first row the head; one row alone is a row without a table. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  // Of more rows than a call may have arguments.
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0)
  const [head = [], ...rest] = rows.map((row) => markdownRow(row, width))
  if (rest.length === 0) return rows.length === 0 ? '' : String(head)
  return [head, `| ${Array.from({ length: width }, () => '---').join(' | ')} |`, ...rest].join('\n')
}

export function markdownRow(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, i) => cellOf(row[i] ?? ''))
  return `| ${cells.join(' | ')} |`
}

function cellOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
}
