// Measures how often a chunk ends in the middle of a sentence and how fast a text is split,
// compared with a recursive splitter in the same run.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chunkText } from '#rag/ingest/chunker.ts'
import { chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { splitNaively } from './lib/naive-splitter.ts'
import { printTable } from './lib/table.ts'

export const description =
  'chunks that end mid-sentence, and MB/s, compared with a recursive splitter'

const SETTINGS = [
  { size: 400, overlap: 80 },
  { size: 1_000, overlap: 200 },
]
const BIG = 16_000_000

export async function run(args: string[]): Promise<void> {
  const rows: string[][] = []
  for (const { name, text } of texts(args)) {
    for (const { size, overlap } of SETTINGS) {
      const ours = chunkText(text, { size, overlap }).map((chunk) => chunk.text)
      const naive = splitNaively(text, size, overlap)
      rows.push([name, `${size}/${overlap}`, ...shares(text, ours), ...shares(text, naive)])
    }
  }
  printTable(
    'Chunks that end in the middle of a sentence',
    ['text', 'size/overlap', 'chunks', 'cut', 'naive chunks', 'naive cut'],
    rows,
  )

  const prose = texts(args)
    .map(({ text }) => text)
    .join('\n\n')
  const hard: [string, string][] = [
    ['these texts, repeated', prose.repeat(Math.ceil(BIG / prose.length)).slice(0, BIG)],
    ['no spaces at all', 'x'.repeat(BIG / 4)],
    ['Chinese without stops', '黑豹队的防守只丢了分'.repeat(BIG / 40)],
    ['white space', `a${' '.repeat(BIG)}b`],
  ]
  printTable(
    'MB of UTF-16 units per second at 1000/200',
    ['text', 'ours', 'naive'],
    hard.map(([name, text]) => [
      name,
      speed(text, () => chunkText(text, { size: 1_000, overlap: 200 })),
      speed(text, () => splitNaively(text, 1_000, 200)),
    ]),
  )
}

function texts(args: string[]): { name: string; text: string }[] {
  const root = join(import.meta.dirname, '..')
  const own = globSync('{README,ARCHITECTURE,CONTRIBUTING}.md', { cwd: root }).map((name) => ({
    name,
    text: readFileSync(join(root, name), 'utf8'),
  }))
  const folder = dataFolder(args)
  if (folder === null) return own
  const languages = ['en', 'de', 'es', 'zh'].map((language) => ({
    name: `xquad ${language}`,
    text: xquad(folder, language).paragraphs.join('\n\n'),
  }))
  return [...own, ...chunkEvaluation(folder), ...languages]
}

/**
 * A cut is clean after the end of a sentence or where the text pauses: an empty line, a heading, an
 * item, a row.
 */
function shares(text: string, chunks: string[]): [string, string] {
  let from = 0
  let cut = 0
  for (const chunk of chunks) {
    const start = text.indexOf(chunk, from)
    const end = start + chunk.length
    if (start >= 0) from = start + 1
    const pauses =
      start >= 0 &&
      /^[^\S\n]*(?:$|\n\s*\n|\n\s*(?:#|[-*+•|]\s|\d+[.)]\s))/.test(text.slice(end, end + 200))
    if (!pauses && !/[.!?:…。！？؟।]["'”’)\]»*_」』）]*$/.test(chunk) && !/\|$/.test(chunk)) cut++
  }
  return [String(chunks.length), `${((100 * cut) / chunks.length).toFixed(1)} %`]
}

function speed(text: string, work: () => unknown): string {
  const started = performance.now()
  work()
  return (text.length / 1_000 / (performance.now() - started)).toFixed(1)
}
