// The texts that the retrieval benches read: public sets in ../shared/data beside the project, or in the folder that is named.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const BESIDE = join(import.meta.dirname, '..', '..', '..', 'shared', 'data')

/** The folder with the sets; null, said aloud, where it is not. */
export function dataFolder([named]: string[]): string | null {
  const folder = join(named === undefined ? BESIDE : resolve(named), 'retrieval')
  if (existsSync(folder)) return folder
  console.log(`${folder} is not there: its sets are left out. Name another folder as the argument.`)
  return null
}

export type Reference = { start: number; end: number }
export type Question = { question: string; references: Reference[] }
export type Corpus = { name: string; text: string; questions: Question[] }

/** brandonstarxel/chunking_evaluation: corpora, questions, and the spans that answer them, here in UTF-16 units. */
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
        references: (JSON.parse(row[column('references')] ?? '[]') as { start_index: number; end_index: number }[]).map(
          ({ start_index, end_index }) => ({ start: units[start_index] ?? 0, end: units[end_index] ?? 0 }),
        ),
      })),
    }
  })
}

/** google-deepmind/xquad: paragraphs, and questions with the paragraph that answers each. */
export function xquad(
  folder: string,
  language: string,
): { paragraphs: string[]; questions: { question: string; answer: string; paragraph: number }[] } {
  const { data } = JSON.parse(readFileSync(join(folder, 'xquad', `xquad.${language}.json`), 'utf8')) as {
    data: { paragraphs: { context: string; qas: { question: string; answers: { text: string }[] }[] }[] }[]
  }
  const all = data.flatMap(({ paragraphs }) => paragraphs)
  return {
    paragraphs: all.map(({ context }) => context),
    questions: all.flatMap(({ qas }, paragraph) =>
      qas.map(({ question, answers }) => ({ question, answer: answers[0]?.text ?? '', paragraph })),
    ),
  }
}

/** Index of each code point in UTF-16 units. */
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
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
