// CSV as in RFC 4180, safe to open in a spreadsheet: a cell that would start a formula there becomes a text.
// The trap: where the list separator is `;`, as in German or French Excel, a quote in the middle of a line opens nothing, so each
// `;` and line end inside a quoted text starts a new cell.

/** Blanks and quotes before the sign of a formula do not help: spreadsheets drop them. */
const FORMULA_AT_START = /^(?:\s*[\t\r]|[\s"]*[=+\-@＝＋－＠])/
const FORMULA_IN_LATER_CELL = /([;\t\r\n][ "]*)(?=[=+\-@＝＋－＠])/g

export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

function formatCell(value: string | number | boolean | null): string {
  if (value === null) return ''
  // Signed numbers are numbers, too.
  if (typeof value !== 'string') return String(value)
  const marked = value.replace(FORMULA_IN_LATER_CELL, "$1'")
  const text = FORMULA_AT_START.test(marked) ? `'${marked}` : marked
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
