/**
 * Bodies and queries in the processor's notation: `a[b][0][c]=x`, `expand[]=y`, `created[gte]=3`.
 * Every leaf is a string; a level whose keys are all numbers (or empty) becomes an array.
 */
export type FormValue = string | FormValue[] | Form
export type Form = { [name: string]: FormValue }

const DEPTH_MAX = 8
const PAIRS_MAX = 1_000

/** Throws a RangeError on a form nested deeper than 8 levels or longer than 1,000 pairs. */
export function parseForm(text: string): Form {
  const pairs = [...new URLSearchParams(text)]
  if (pairs.length > PAIRS_MAX) throw new RangeError('too many parameters')

  const root: Level = new Map()
  for (const [name, value] of pairs) place(root, parsePath(name), value)
  return toForm(root)
}

// A Map for each level, so that `__proto__` and `constructor` are ordinary keys.
type Level = Map<string, string | Level>

function parsePath(name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  const path = [name.slice(0, open), ...name.slice(open + 1, -1).split('][')]
  if (path.length > DEPTH_MAX) throw new RangeError('parameters nested too deeply')
  return path
}

function place(level: Level, path: string[], value: string): void {
  const [head = '', ...rest] = path
  const name = head === '' ? String(level.size) : head
  if (rest.length === 0) {
    level.set(name, value)
    return
  }
  const known = level.get(name)
  const next: Level = known instanceof Map ? known : new Map()
  level.set(name, next)
  place(next, rest, value)
}

function toFormValue(value: string | Level): FormValue {
  if (typeof value === 'string') return value
  const keys = [...value.keys()]
  return keys.every((key) => /^\d{1,4}$/.test(key))
    ? [...value.values()].map(toFormValue)
    : toForm(value)
}

function toForm(level: Level): Form {
  const form: Form = Object.create(null)
  for (const [name, value] of level) form[name] = toFormValue(value)
  return form
}
