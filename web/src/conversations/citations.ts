import type { Citation, Quote } from '../api/types.ts'
import type { Source } from './api.ts'

/** One mark `[n]` in an answer. `at` is its offset in the answer’s text. */
type Mark = { at: number; source: number }

const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/
const MARKS = /\[(\d{1,2}(?:\s*,\s*\d{1,2})*)\](?![(:])/g

/** Returns the marks of an answer in reading order. Code and links have none. */
export function findMarks(answer: string): Mark[] {
  const marks: Mark[] = []
  replaceMarks(answer, (mark, at, numbers) => {
    for (const source of numbers) marks.push({ at, source })
    return mark
  })
  return marks
}

/** Returns the answer without the marks of its sources, for copying. */
export function removeMarks(answer: string, sources: number): string {
  return replaceMarks(answer, (mark, _, numbers) =>
    numbers.every((number) => number >= 1 && number <= sources) ? '' : mark,
  ).replace(/ +([.,;:!?])/g, '$1')
}

function replaceMarks(
  answer: string,
  replace: (mark: string, at: number, numbers: number[]) => string,
): string {
  let start = 0
  return answer
    .split(CODE)
    .map((part, index) => {
      const offset = start
      start += part.length
      if (index % 2 === 1) return part
      return part.replace(MARKS, (mark: string, list: string, at: number) =>
        replace(
          mark,
          offset + at,
          list.split(',').map((number) => Number(number.trim())),
        ),
      )
    })
    .join('')
}

/** What a mark stands for: its passage, and the sentence in it that supports the statement. */
export type Cited = { number: number; source: Source; quote: Quote | null }

/**
 * Returns the passage and sentence of each mark; null for the mark of a missing source. The
 * statement of a mark is the last one with that source that begins before it.
 */
export function resolveMarks(
  answer: string,
  sources: Source[],
  citations: Citation[],
): (Cited | null)[] {
  return findMarks(answer).map(({ at, source: number }) => {
    const source = sources[number - 1]
    if (source === undefined) return null
    const statement = citations
      .filter((one) => one.source === number && one.start <= at && one.quote !== null)
      .sort((a, b) => b.start - a.start)[0]
    return { number, source, quote: statement?.quote ?? null }
  })
}

/** Returns the statements that their cited passages do not support. */
export function findUnsupported(answer: string, citations: Citation[]): string[] {
  const statements = citations
    .filter(
      (one) =>
        !one.supported && !citations.some((other) => other.supported && other.start === one.start),
    )
    .map(({ start, end }) => answer.slice(start, end).trim())
  return [...new Set(statements)]
}
