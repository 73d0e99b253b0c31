// Writes the matrix as Markdown: a row per case, a column per door, in each cell a sign per vendor.
import type { DoorName } from './door.ts'
import { type Case, type Outcome, VENDORS } from './matrix.ts'

const SIGNS: Record<Outcome['verdict'], string> = { right: '✔', refused: '○', wrong: '✘' }

export function listSigns(outcomes: readonly Outcome[], name: string, door: DoorName): string {
  const own = outcomes.filter((one) => one.name === name && one.door === door)
  if (own.length === 0) return '–'
  return VENDORS.map(
    (vendor) => SIGNS[own.find((one) => one.vendor === vendor)?.verdict ?? 'wrong'],
  ).join('')
}

/** `cases × doors`, and a last row of sums. */
export function buildTable(
  outcomes: readonly Outcome[],
  cases: readonly Case[],
  doors: readonly DoorName[],
): string {
  const rows = cases.map(({ name }) => [
    name,
    ...doors.map((door) => listSigns(outcomes, name, door)),
  ])
  const sums = doors.map((door) => summarize(outcomes.filter((one) => one.door === door)))
  return [['Case', ...doors], ['---', ...doors.map(() => '---')], ...rows, ['**Sum**', ...sums]]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

export function summarize(outcomes: readonly Outcome[]): string {
  const count = (verdict: Outcome['verdict']) =>
    outcomes.filter((one) => one.verdict === verdict).length
  return `${count('right')} ✔ ${count('refused')} ○ ${count('wrong')} ✘`
}
