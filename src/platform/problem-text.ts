/** Problems as pages without scripts show them, in the language of the visitor. */
import type { Locale } from './locale.ts'
import phrases from './phrases.de.json' with { type: 'json' }
import { type Phrases, translatePhrase } from './phrases.ts'
import { fillSentence, type Problem } from './problem.ts'
import sentences from './problem-sentences.de.json' with { type: 'json' }

const SENTENCES: Readonly<Record<string, string>> = sentences
const VALUES: Readonly<Record<string, Phrases>> = phrases.values

/** Returns the sentence of a problem, or what is wrong with each field, with full stops. */
export function describeProblem(problem: Problem, locale: Locale): string {
  const { detail } = problem
  const lines =
    typeof detail === 'string'
      ? [locale === 'de' ? translateSentence(problem) : detail]
      : detail.map(({ msg }) =>
          locale === 'de' ? (translatePhrase(phrases.issues, msg) ?? msg) : msg,
        )
  return lines.map((sentence) => sentence.replace(/\.?$/, '.')).join(' ')
}

function translateSentence({ code, values, message }: Problem): string {
  const sentence = SENTENCES[code]
  if (sentence === undefined) return message
  const own = VALUES[code] ?? {}
  return fillSentence(
    sentence,
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        translatePhrase(own, String(value)) ?? value,
      ]),
    ),
  )
}
