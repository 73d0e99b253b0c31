/** Prints a table. Numbers are aligned to the right. */
export function printTable(title: string, header: string[], rows: (string | number)[][]): void {
  const text = [header, ...rows.map((row) => row.map(String))]
  const widths = header.map((_, column) => Math.max(...text.map((row) => row[column]?.length ?? 0)))
  const isNumber = (cell: string) => /^[\d.,]+( ?[×%a-zA-Zµ/]+)?$/.test(cell)
  console.log(`\n${title}`)
  for (const [index, row] of text.entries()) {
    console.log(
      `  ${row.map((cell, column) => (index > 0 && isNumber(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join('  ')}`,
    )
    if (index === 0) console.log(`  ${widths.map((width) => '─'.repeat(width)).join('  ')}`)
  }
}

export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}
