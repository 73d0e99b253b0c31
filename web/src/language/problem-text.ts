import {
  fillPlaces,
  matchValues,
  type Phrases,
  translatePhrase,
} from '../../../src/platform/phrases.ts'

/** The German sentence of an error by its code; with the English one where that has values. */
type Sentence = string | readonly [english: string, german: string]

/** In a German page, a script defines them before the app starts. */
type Globals = {
  problems?: Partial<Record<string, Sentence>>
  phrases?: {
    issues: Phrases
    files: Phrases
    checks: Phrases
    values: Partial<Record<string, Phrases>>
  }
}

/** Returns the service's sentence in the language of the app, with its values. */
export function translateProblem(code: string | null | undefined, sentence: string): string {
  const { problems = {}, phrases } = globalThis as Globals
  const known = problems[code ?? '']
  if (known === undefined) return sentence
  if (typeof known === 'string') return translateSentence('issues', sentence, known)
  const [english, german] = known
  const values = matchValues(english, sentence)
  const own = phrases?.values[code ?? ''] ?? {}
  return values === null
    ? sentence
    : fillPlaces(german, (name) => {
        const value = values.get(name)
        return value && (translatePhrase(own, value) ?? value)
      })
}

/** Returns what the service says about a field, a file or a check in the language of the app. */
export function translateSentence(
  kind: 'issues' | 'files' | 'checks',
  sentence: string,
  otherwise = sentence,
): string {
  const { phrases } = globalThis as Globals
  return (phrases && translatePhrase(phrases[kind], sentence)) ?? otherwise
}
