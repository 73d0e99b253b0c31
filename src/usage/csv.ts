// Writes CSV (RFC 4180) that is safe in spreadsheets: a cell that would start a formula becomes text.
// The trap: German and French Excel separate cells with `;`. They ignore a quote in the middle of a
// line, so each `;` and line end inside a quoted text starts a new cell.

/** Includes leading blanks and quotes, because spreadsheets drop them. */
const FORMULA_AT_START = /^(?:\s*[\t\r]|[\s"]*[=+\-@＝＋－＠])/
const FORMULA_IN_LATER_CELL = /([;\t\r\n][ "]*)(?=[=+\-@＝＋－＠])/g

export function formatCsvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

function formatCell(value: string | number | boolean | null): string {
  if (value === null) return ''
  // A number starts no formula, even with a sign.
  if (typeof value !== 'string') return String(value)
  const marked = value.replace(FORMULA_IN_LATER_CELL, "$1'")
  const text = FORMULA_AT_START.test(marked) ? `'${marked}` : marked
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
