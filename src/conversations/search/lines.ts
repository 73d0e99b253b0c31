/** The lines of a text that contain words of a query, with the places of these words. */
import { eachTerm, foldAccents, isWord, stemWord } from '#rag/search/words/terms.ts'

export type MatchedLine = { text: string; marks: [start: number, end: number][] }
/** The words of a query, and how each matches. */
export type Marker = { words: Set<string>; stems: Set<string>; groups: string[]; prefix: string }

const LINE_CHARACTERS_MAX = 240
/** Of a longer message only the beginning is looked through. */
const TEXT_CHARACTERS_MAX = 200_000

export function createMarker(query: string): Marker {
  const marker: Marker = { words: new Set(), stems: new Set(), groups: [], prefix: '' }
  eachTerm(query, (name) => {
    const folded = foldAccents(name)
    marker.prefix = folded
    if (!isWord(name)) marker.groups.push(name)
    marker.words.add(folded)
    if (isWord(name)) marker.stems.add(stemWord(folded))
  })
  return marker
}

/** Returns the line with the most words of the query; null where none has one. */
export function findLine(text: string, marker: Marker): MatchedLine | null {
  let best: { line: string; marks: MatchedLine['marks'] } | null = null
  for (const line of text.slice(0, TEXT_CHARACTERS_MAX).split('\n')) {
    const marks = findMarks(line, marker)
    if (marks.length > (best?.marks.length ?? 0)) best = { line, marks }
  }
  return best === null ? null : cutLine(best.line, best.marks)
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu

function findMarks(line: string, marker: Marker): MatchedLine['marks'] {
  const marks: MatchedLine['marks'] = []
  for (const { 0: word, index } of line.matchAll(WORD)) {
    if (isMatch(word, marker)) marks.push([index, index + word.length])
    else
      marks.push(
        ...findGroups(word, marker).map(([a, b]): [number, number] => [index + a, index + b]),
      )
  }
  return marks
}

function isMatch(word: string, { words, stems, prefix }: Marker): boolean {
  let isFound = false
  eachTerm(word, (name) => {
    if (!isWord(name)) return
    const folded = foldAccents(name)
    isFound ||= words.has(folded) || stems.has(stemWord(folded)) || folded.startsWith(prefix)
  })
  return isFound
}

/** Finds groups of characters, in scripts without spaces; overlapping ones are joined. */
function findGroups(run: string, { groups }: Marker): MatchedLine['marks'] {
  const lower = run.toLowerCase()
  const marks = groups
    .flatMap((group) => {
      const at = lower.indexOf(group)
      return at < 0 ? [] : [[at, at + group.length] as [number, number]]
    })
    .sort(([a], [b]) => a - b)
  const joined: MatchedLine['marks'] = []
  for (const [start, end] of marks) {
    const last = joined.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else joined.push([start, end])
  }
  return joined
}

/** Cuts a long line around its first marks. */
function cutLine(line: string, marks: MatchedLine['marks']): MatchedLine {
  const [first = 0] = marks[0] ?? []
  let from = 0
  if (line.length > LINE_CHARACTERS_MAX && first > LINE_CHARACTERS_MAX / 3) {
    const space = line.indexOf(' ', first - LINE_CHARACTERS_MAX / 4)
    from = space >= 0 && space < first ? space + 1 : first
  }
  const end = Math.min(line.length, from + LINE_CHARACTERS_MAX)
  const text = line.slice(from, end).toWellFormed()
  return {
    text,
    marks: marks
      .filter(([start, stop]) => start >= from && stop <= end)
      .map(([start, stop]): [number, number] => [start - from, stop - from]),
  }
}
