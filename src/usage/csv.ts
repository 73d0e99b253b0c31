// CSV as RFC 4180 has it, safe to open in a spreadsheet: what would be taken for a formula there is made a text.

/** What a spreadsheet takes a cell for a formula by; spaces before it do not help. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/

export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(value: string | number | boolean | null): string {
  if (value === null) return ''
  // A number is one, whatever its sign.
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
