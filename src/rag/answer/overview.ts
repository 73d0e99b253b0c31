// Questions about the documents as a whole: "What do I have?", "Summarise the lease". Every word
// concerns documents, possession or summaries, or is part of a document's name. They get passages
// without a search: each document's beginning, or parts spread over it.
import { stopPhrases } from '#embeddings/stop-words.ts'
import type { RagDeps } from '../deps.ts'
import type { DocumentRow } from '../documents/document-store.ts'
import { type FoundChunk, readPlaces } from '../search/search.ts'
import { eachTerm, foldAccents, isStopWord, isWord, stemWord } from '../search/words/terms.ts'
import {
  collectionWords,
  havingWords,
  phrases,
  politeWords,
  summaryWords,
  thingWords,
  timeWords,
} from './overview-words.ts'
import { formatDate, type Introduction, readName } from './prompt.ts'

export type Overview = {
  kind: 'list' | 'summary'
  /** Newest first. */
  documents: DocumentRow[]
}

const DOCUMENTS_MAX = 24
/** Over all documents together. */
const CHUNKS_MAX = 24
const NAMES_MAX = 100
/** The number of names reserved for the oldest documents. */
const OLDEST_NAMED = 5
const NAMES_READ_MAX = 10_000

/** Null when passages answer. `isFollowUp`: "summarise this" refers to the conversation before. */
export function findOverview(
  question: string,
  documents: DocumentRow[],
  isFollowUp: boolean,
): Overview | null {
  if (documents.length === 0) return null
  const kind = findKind(question, new Set())
  if (kind !== null)
    return kind === 'summary' && isFollowUp ? null : { kind, documents: sortNewestFirst(documents) }
  const questionRoots = readRoots(question)
  // A user may have a hundred thousand documents: names are read only where they may matter.
  if (questionRoots.size > WORDS_MAX || questionRoots.isDisjointFrom(lists.summary)) return null
  let named: { document: DocumentRow; words: number } | null = null
  for (const document of sortNewestFirst(documents).slice(0, NAMES_READ_MAX)) {
    const name = readNameRoots(document)
    if (name.size > (named?.words ?? 0) && name.isSubsetOf(questionRoots))
      named = { document, words: name.size }
  }
  if (named === null) return null
  const whole = readRoots(readName(readMetadata(named.document)) ?? '')
  return findKind(question, whole) === 'summary'
    ? { kind: 'summary', documents: [named.document] }
    : null
}

function sortNewestFirst(documents: DocumentRow[]): DocumentRow[] {
  return documents.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
}

/** Describes the sources for the model. */
export function introduceOverview({ kind, documents }: Overview): Introduction {
  const count = documents.length === 1 ? 'one document' : `${documents.length} documents`
  const are = kind === 'list' ? 'their beginnings' : 'parts spread over them'
  const description = `The question is about the documents as a whole: ${count}, newest first. The sources are ${are}; tell if they leave something out.`
  return { description, names: listNames(documents) }
}

/** Lists names with their dates; texts without a name, which may be many, share one line. */
function listNames(documents: DocumentRow[]): string[] {
  const named = documents.flatMap((document) => {
    const name = readName(readMetadata(document))
    return name === null ? [] : `${name}, added ${formatDate(document.created_at)}`
  })
  const names =
    named.length <= NAMES_MAX
      ? named
      : [...named.slice(0, NAMES_MAX - OLDEST_NAMED), '…', ...named.slice(-OLDEST_NAMED)]
  const unnamed = documents.length - named.length
  if (unnamed > 0)
    names.push(unnamed === 1 ? 'a text without a name' : `${unnamed} texts without a name`)
  return names
}

/** A list takes each document's first chunk; a summary, the same number of each. */
export function readOverviewChunks(
  deps: Pick<RagDeps, 'db'>,
  userId: string,
  { kind, documents }: Overview,
): Promise<FoundChunk[]> {
  const shown = documents.slice(0, DOCUMENTS_MAX)
  const each = kind === 'list' ? 1 : Math.max(1, Math.floor(CHUNKS_MAX / shown.length))
  const places = shown.flatMap(({ version, total_chunks }) =>
    spreadIndexes(total_chunks, each).map((index) => ({ version, index, score: 1 })),
  )
  return readPlaces(deps, userId, places, shown)
}

function spreadIndexes(total: number, count: number): number[] {
  if (total <= count) return Array.from({ length: total }, (_, index) => index)
  if (count === 1) return [0]
  return Array.from({ length: count }, (_, i) => Math.round((i * (total - 1)) / (count - 1)))
}

const lists = {
  collection: readRoots(collectionWords),
  having: readRoots(havingWords),
  summary: readRoots(summaryWords),
  polite: readRoots(politeWords),
  time: readRoots(timeWords),
  thing: readRoots(thingWords),
}
type Kind = keyof typeof lists
const phraseList = Object.entries(phrases)
  .flatMap(([kind, all]) => all.map((phrase) => ({ kind: kind as Kind, phrase })))
  .sort((a, b) => b.phrase.length - a.phrase.length)
/** A longer text is not a question about all documents. */
const WORDS_MAX = 20

function findKind(question: string, name: ReadonlySet<string>): Overview['kind'] | null {
  const found = new Set<Kind>()
  let words = 0
  let isOther = false
  let rest = ''
  // "ai" alone is often the subject of a question.
  eachTerm(question.replace(/(?<!\p{L})(?:j['’]ai|ai-je)(?!\p{L})/giu, 'avons'), (term) => {
    words++
    if (!isWord(term)) return
    const root = toRoot(term)
    if (name.has(root)) return
    const kinds = (Object.keys(lists) as Kind[]).filter((kind) => lists[kind].has(root))
    for (const kind of kinds) found.add(kind)
    if (kinds.length === 0 && !isStopWord(term)) isOther = true
  })
  if (isOther || words === 0 || words > WORDS_MAX) return null
  rest = question
    .normalize('NFKC')
    .replace(
      /[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]/gu,
      '',
    )
  for (const { kind, phrase } of phraseList) {
    if (!rest.includes(phrase)) continue
    found.add(kind)
    rest = rest.replaceAll(phrase, ' ')
  }
  if (rest.replace(stopPhrases, '').trim() !== '') return null
  if (found.has('summary')) return 'summary'
  const kindCount =
    Number(found.has('collection')) + Number(found.has('having')) + Number(found.has('thing'))
  return kindCount >= 2 ? 'list' : null
}

function readRoots(text: string): Set<string> {
  const roots = new Set<string>()
  eachTerm(text, (term) => roots.add(toRoot(term)))
  return roots
}

function toRoot(term: string): string {
  return isWord(term) ? stemWord(foldAccents(term)) : term
}

/** Returns the roots of the file's name without its ending, or of the title. */
function readNameRoots(document: DocumentRow): Set<string> {
  const name = readName(readMetadata(document))
  return readRoots((name ?? '').replace(/\.\p{L}[\p{L}\p{N}]{0,4}$/u, ''))
}

function readMetadata({ source, metadata_json }: DocumentRow) {
  return { ...metadata_json, ...(source === null ? {} : { source }) }
}
