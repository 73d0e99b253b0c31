// Measures which statements the citation check keeps: those that the cited passage supports, those
// that cite another passage, and those with a changed number.
import { readClaim, readText, supporting } from '#rag/answer/support.ts'
import { dataFolder, xquad } from './lib/corpora.ts'
import { printTable } from './lib/table.ts'

export const description = 'statements that the citation check keeps and drops, by language'

/**
 * The thresholds were chosen on these languages, so other languages are needed to validate them.
 */
const LANGUAGES = ['en', 'de', 'es', 'ru', 'zh', 'ar', 'th', 'vi']

export async function run(args: string[]): Promise<void> {
  const folder = dataFolder(args)
  if (folder === null) return
  const rows: string[][] = []
  for (const language of LANGUAGES) {
    const { paragraphs, questions } = xquad(folder, language)
    const read = paragraphs.map(readText)
    const counts = { own: 0, neighbour: 0, far: 0, number: 0, numbers: 0 }
    for (const { question, answer, paragraph } of questions) {
      const statement = `${question.replace(/[?？؟]\s*$/u, '')}: ${answer}`
      const known = readText(question)
      const isKept = (said: string, at: number) =>
        supporting(readClaim(said), [read[at % read.length] as (typeof read)[number]], known)[0] ===
        true
      if (isKept(statement, paragraph)) counts.own++
      if (isKept(statement, paragraph + 1)) counts.neighbour++
      if (isKept(statement, paragraph + 120)) counts.far++
      const changed = statement.replace(/\d+/, (digits) => String(Number(digits) + 7))
      if (changed === statement) continue
      counts.numbers++
      if (isKept(changed, paragraph)) counts.number++
    }
    const share = (count: number, of = questions.length) => `${((100 * count) / of).toFixed(1)} %`
    rows.push([
      language,
      share(counts.own),
      share(counts.neighbour),
      share(counts.far),
      share(counts.number, counts.numbers),
    ])
  }
  printTable(
    'XQuAD, question and answer as a statement: share kept when it cites its own passage, the next one of the article, one of another article, or its own with a changed number',
    ['', 'own', 'next', 'other article', 'number changed'],
    rows,
  )
}
