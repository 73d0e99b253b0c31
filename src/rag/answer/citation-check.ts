/** Checks the citations of an answer against the passages that it may cite. */
import { CitationCheck } from './citations.ts'
import { joinText, type Passage } from './passages.ts'
import { readName } from './prompt.ts'

/** A statement may use the words of the question and of the documents' names. */
export function createCitationCheck(question: string, sources: readonly Passage[]): CitationCheck {
  const names = sources.flatMap(({ metadata }) => [
    readName(metadata) ?? '',
    String(metadata.heading ?? ''),
  ])
  const passages = sources.map((source) => {
    const text = joinText(source)
    const head = text.length - source.content.length
    return { text, pieces: source.pieces.map((piece) => ({ ...piece, at: piece.at + head })) }
  })
  return new CitationCheck(passages, [question, ...names].join('\n'))
}
