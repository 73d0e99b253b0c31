// Labels of calls, with which callers find them: pairs of name and value, stored as one JSON line each.
// The trap: a search compares whole lines, so equal pairs must produce equal lines, without a line
// break inside. Each line is a JSON array, not an object: V8 14 confuses object keys that begin alike
// when the first ends in a backslash.

export type Labels = Readonly<Record<string, string>>

/** OpenAI's limits of `metadata`. Labels beyond them are dropped. */
const LABELS_MAX = 16
const NAME_LENGTH_MAX = 64
const VALUE_LENGTH_MAX = 512

/** Formats the labels whose values are texts; returns '' if there are none. */
export function formatLabels(given: Record<string, unknown>): string {
  let lines = ''
  let count = 0
  for (const name of Object.keys(given).sort()) {
    const value = given[name]
    if (
      typeof value !== 'string' ||
      name.length > NAME_LENGTH_MAX ||
      value.length > VALUE_LENGTH_MAX
    )
      continue
    if (count++ === LABELS_MAX) break
    lines += `${formatLabel(name, value)}\n`
  }
  return lines === '' ? '' : `\n${lines}`
}

export function readLabels(written: string): Labels {
  return Object.fromEntries(JSON.parse(`[${written.trim().replaceAll('\n', ',')}]`))
}

/** Returns the line to search for: it occurs in the formatted labels only if the label is among them. */
export function formatLabelLine(name: string, value: string): string {
  return `\n${formatLabel(name, value)}\n`
}

function formatLabel(name: string, value: string): string {
  return JSON.stringify([name, value])
}
