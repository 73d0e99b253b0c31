/** The German sentence of an error by its code; with the English one where that has values. */
type Sentence = string | readonly [english: string, german: string]

/** Returns the service's sentence in the language of the app, with its values. */
export function translateProblem(code: string, sentence: string): string {
  const { problems = {} } = globalThis as { problems?: Partial<Record<string, Sentence>> }
  const known = problems[code]
  if (known === undefined) return sentence
  if (typeof known === 'string') return known
  const [english, german] = known
  const values = matchValues(english, sentence)
  return values === null
    ? sentence
    : german.replace(/\{(\w+)\}/g, (place, name: string) => values.get(name) ?? place)
}

function matchValues(template: string, sentence: string): Map<string, string> | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = template
    .split(/\{\w+\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.+?)')
  const match = new RegExp(`^${pattern}$`, 's').exec(sentence)
  return match && new Map(names.map((name, index) => [name, match[index + 1] ?? '']))
}
