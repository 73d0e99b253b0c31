// Reads the public data sets of the retrieval benches from ../shared/data beside the project, or
// from the folder in the argument.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const BESIDE = join(import.meta.dirname, '..', '..', '..', 'shared', 'data')

/** Returns the folder with the data sets; null, with a message, when it does not exist. */
export function dataFolder([named]: string[]): string | null {
  const folder = join(named === undefined ? BESIDE : resolve(named), 'retrieval')
  if (existsSync(folder)) return folder
  console.log(
    `${folder} does not exist, so its data sets are skipped. Pass another folder as the argument.`,
  )
  return null
}

export type Reference = { start: number; end: number }
export type Question = { question: string; references: Reference[] }
export type Corpus = { name: string; text: string; questions: Question[] }

/**
 * brandonstarxel/chunking_evaluation: corpora, questions, and the spans that answer them, here in
 * UTF-16 units.
 */
export function chunkEvaluation(folder: string): Corpus[] {
  const at = join(folder, 'chunk-evaluation')
  const [head = [], ...rows] = readCsv(readFileSync(join(at, 'questions.csv'), 'utf8'))
  const column = (name: string) => head.indexOf(name)
  const byCorpus = Map.groupBy(
    rows.filter((row) => row.length === head.length),
    (row) => row[column('corpus_id')] ?? '',
  )
  return [...byCorpus].map(([name, questions]) => {
    const text = readFileSync(join(at, `${name}.md`), 'utf8')
    const units = unitOffsets(text)
    return {
      name,
      text,
      questions: questions.map((row) => ({
        question: row[column('question')] ?? '',
        references: (
          JSON.parse(row[column('references')] ?? '[]') as {
            start_index: number
            end_index: number
          }[]
        ).map(({ start_index, end_index }) => ({
          start: units[start_index] ?? 0,
          end: units[end_index] ?? 0,
        })),
      })),
    }
  })
}

export type Paragraphs = {
  paragraphs: string[]
  /** The article index of each paragraph. */
  articles: number[]
  questions: { question: string; answer: string; paragraph: number }[]
}

/** google-deepmind/xquad: paragraphs, and questions with the paragraph that answers each. */
export function xquad(folder: string, language: string): Paragraphs {
  return readSquad(join(folder, 'xquad', `xquad.${language}.json`))
}

/** Reads the other sets in SQuAD's format from `squad/`. No constant was chosen on them. */
export function otherSets(folder: string): { name: string; set: Paragraphs }[] {
  const at = join(folder, 'squad')
  if (!existsSync(at)) return []
  const files = readdirSync(at).filter((file) => file.endsWith('.json'))
  return files
    .sort()
    .map((file) => ({ name: basename(file, '.json'), set: readSquad(join(at, file)) }))
}

type SquadQuestion = { question: string; is_impossible?: boolean; answers: { text: string }[] }
type SquadArticle = { paragraphs: { context: string; qas: SquadQuestion[] }[] }

function readSquad(file: string): Paragraphs {
  const { data } = JSON.parse(readFileSync(file, 'utf8')) as { data: SquadArticle[] }
  const all = data.flatMap(({ paragraphs }, article) =>
    paragraphs.map((paragraph) => ({ article, ...paragraph })),
  )
  return {
    paragraphs: all.map(({ context }) => context),
    articles: all.map(({ article }) => article),
    questions: all.flatMap(({ qas }, paragraph) =>
      qas
        .filter(({ is_impossible = false }) => !is_impossible)
        .map(({ question, answers }) => ({ question, answer: answers[0]?.text ?? '', paragraph })),
    ),
  }
}

/** Returns the UTF-16 offset of each code point. */
function unitOffsets(text: string): number[] {
  const offsets: number[] = []
  let at = 0
  for (const character of text) {
    offsets.push(at)
    at += character.length
  }
  offsets.push(at)
  return offsets
}

function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
