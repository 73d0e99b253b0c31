// Scores a message by its best sentence. A passage that answers lacks the background, greetings and
// wishes around the question, and would reach too small a share of the whole message.
import {
  courtesies,
  courtesyPhrases,
  documentPhrases,
  documentReferences,
  formPhrases,
  forms,
} from '#embeddings/courtesy-words.ts'
import {
  Comma,
  classifyMark,
  FullComma,
  isSpace,
  Space,
  sentenceEnds,
} from '#embeddings/sentences.ts'
import { questionWords, stopPhrases } from '#embeddings/stop-words.ts'
import { createBudget, type Question, type Ranked, rank, readQuestion, score } from './ranking.ts'
import { eachTerm, foldAccents, isStopWord, isTriple, isWord } from './terms.ts'
import type { WordIndex } from './word-index.ts'

export type Message = {
  /** Without greetings and instructions of form; the whole message where nothing is left. */
  subject: string
  /** The sentences that may each be the question; empty where the message has only one. */
  sentences: string[]
}

const foldTerms = (words: ReadonlySet<string>) => new Set([...words].map(foldAccents))
const courtesyTerms = foldTerms(courtesies)
const formTerms = foldTerms(forms)
const documentTerms = foldTerms(documentReferences)

/** The last sentences of a pasted page; each is ranked separately. */
const SENTENCES_MAX = 6
/** A shorter sentence depends on another: "Is that right?" */
const SUBJECTS_MIN = 2
const QUESTION_MARK = /[?？؟]["'”’»)\]]*\s*$/

export function readMessage(text: string): Message {
  const meaningful = splitSentences(text)
    .filter((sentence) => countSubjects(sentence) > 0)
    .map(removeCourtesies)
  if (meaningful.length < 2) return { subject: meaningful[0] ?? text, sentences: [] }
  const whole = meaningful.filter((sentence) => countSubjects(sentence) >= SUBJECTS_MIN)
  // Background may be about another subject of the documents.
  const tiers = [
    whole.filter((sentence) => QUESTION_MARK.test(sentence)),
    whole.filter(hasQuestionWord),
    meaningful,
  ]
  const questions = tiers.find((tier) => tier.length > 0) ?? meaningful
  return { subject: meaningful.join(' '), sentences: [...new Set(questions)].slice(-SENTENCES_MAX) }
}

/** Returns whether a message only greets, thanks or describes the form of the answer. */
export function isCourtesyOnly(text: string): boolean {
  if (countSubjects(text) > 0) return false
  if (text.normalize('NFKC').search(courtesyPhrases) !== -1) return true
  let isCourteous = false
  eachTerm(text, (term) => {
    if (courtesyTerms.has(foldAccents(term))) isCourteous = true
  })
  return isCourteous
}

/** Ranks the open chunks, best first, each with the score of its best sentence. */
export function rankMessage(
  index: WordIndex,
  message: Message,
  open: Uint8Array,
  count: number,
): Ranked[] {
  return selectBest(
    readQuestions(index, message).map((question) => rank(index, question, open, count)),
  )
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .slice(0, count)
}

/** Returns scores in the order of `slots`. */
export function scoreMessage(index: WordIndex, message: Message, slots: number[]): Ranked[] {
  return selectBest(readQuestions(index, message).map((question) => score(index, question, slots)))
}

function readQuestions(index: WordIndex, { subject, sentences }: Message): Question[] {
  const budget = createBudget()
  return [subject, ...sentences].map((text) => readQuestion(index, text, budget))
}

function selectBest(rankings: Ranked[][]): Ranked[] {
  const bySlot = new Map<number, Ranked>()
  for (const ranked of rankings.flat()) {
    const known = bySlot.get(ranked.slot)
    if (known === undefined || known.score < ranked.score) bySlot.set(ranked.slot, ranked)
  }
  return [...bySlot.values()]
}

function splitSentences(text: string): string[] {
  return sliceText(text, sentenceEnds(text)).flatMap((sentence) => sentence.split(/[\n\r]+/))
}

/** "Good morning, according to my files, who built it?" becomes "who built it?". */
function removeCourtesies(sentence: string): string {
  const clauses = sliceText(sentence, findClauseEnds(sentence))
  const meaningful = clauses.filter((clause) => countSubjects(clause, true) > 0)
  return meaningful.length === 0 ? sentence.trim() : meaningful.join('').trim()
}

function findClauseEnds(sentence: string): number[] {
  const ends: number[] = []
  for (let i = 0; i < sentence.length; i++) {
    const mark = classifyMark(sentence.charCodeAt(i))
    const isComma = mark === FullComma || (mark === Comma && isSpace(sentence.charCodeAt(i + 1)))
    // Thai separates clauses by a space.
    if (isComma || (mark === Space && isTriple(sentence[i - 1] ?? ''))) ends.push(i + 1)
  }
  return [...ends, sentence.length]
}

function sliceText(text: string, ends: number[]): string[] {
  return ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end))
}

/** Counts words that carry a subject; a group of characters counts as half a word. */
function countSubjects(text: string, ignoresDocuments = false): number {
  let rest = text.normalize('NFKC').replace(courtesyPhrases, ' ').replace(formPhrases, ' ')
  if (ignoresDocuments) rest = rest.replace(documentPhrases, ' ')
  let count = 0
  eachTerm(rest.replace(stopPhrases, ' '), (term) => {
    if (!isWord(term)) {
      if (term.length > 1) count += 0.5
      return
    }
    const word = foldAccents(term)
    if (isStopWord(term) || courtesyTerms.has(word) || formTerms.has(word)) return
    if (!ignoresDocuments || !documentTerms.has(word)) count++
  })
  return count
}

function hasQuestionWord(sentence: string): boolean {
  let isFound = false
  eachTerm(sentence, (term) => {
    if (questionWords.has(foldAccents(term))) isFound = true
  })
  return isFound
}
