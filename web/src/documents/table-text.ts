/** Returns the text with its Markdown table rows as cells with dots between, for excerpts. */
export function flattenTables(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (!ROW.test(line)) return line
      const cells = readCells(line)
      return cells.every((cell) => RULE.test(cell)) ? [] : cells.join(' · ')
    })
    .join('\n')
}

const ROW = /^\s*\|.*\|\s*$/
/** A cell of the line below a table's header. */
const RULE = /^:?-{2,}:?$/

function readCells(row: string): string[] {
  return row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim())
    .filter((cell) => cell !== '')
}
