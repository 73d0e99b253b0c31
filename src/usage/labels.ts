// Labels by which callers find their calls: pairs of a name and a value, stored as one text with a pair on each line.
// The trap: a pair is looked for as a whole line, so its writing must be one and the same; JSON's has no line break inside. It is a
// list and no object: V8 14 takes one name for another where both begin alike and the first ended in a backslash.

export type Labels = Readonly<Record<string, string>>

/** OpenAI's own bounds of `metadata`; what goes beyond them is not kept. */
const LABELS_MAX = 16
const NAME_LENGTH_MAX = 64
const VALUE_LENGTH_MAX = 512

/** The texts among `given`; '' where there is none. */
export function writtenLabels(given: Record<string, unknown>): string {
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
    lines += `${writtenLabel(name, value)}\n`
  }
  return lines === '' ? '' : `\n${lines}`
}

export function readLabels(written: string): Labels {
  return Object.fromEntries(JSON.parse(`[${written.trim().replaceAll('\n', ',')}]`))
}

/** Stands in what `writtenLabels` has made where the label is among them, and nowhere else. */
export function lineOfLabel(name: string, value: string): string {
  return `\n${writtenLabel(name, value)}\n`
}

function writtenLabel(name: string, value: string): string {
  return JSON.stringify([name, value])
}
