// Compares the text of PDFs with pdfium's and poppler's: lost and added words, their order, CPU
// time. For PDFs that the bench draws, the correct text is known; public ones are compared between
// readers.
import { type StdioOptions, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parsePdf } from '#rag/ingest/parsers/pdf.ts'
import { pdfSamples, renderPdf } from '#testing/pdf-samples.ts'
import { printTable } from './lib/table.ts'
import { pdftotext, pythonWithPdfium } from './pdf/install.ts'

export const description =
  'text of PDFs compared with pdfium and pdftotext: lost and added words, order, CPU; takes a folder of PDFs'

const BESIDE = join(import.meta.dirname, '..', '..', 'shared', 'data', 'documents', 'pdf')
const OURS = 'latchkey'

type Reading = { file: string; reader: string; text: string; cpuMs: number }

export async function run([folder = BESIDE]: string[]): Promise<void> {
  const own = mkdtempSync(join(tmpdir(), 'latchkey-pdf-'))
  try {
    const drawn = new Map(
      pdfSamples().map((sample, i) => {
        const file = join(own, `${i}.pdf`)
        writeFileSync(file, renderPdf(sample))
        const pages = sample.pages.map((page, n) => [...(sample.running?.(n + 1) ?? []), ...page])
        return [
          file,
          pages
            .flat()
            .map(({ text }) => text)
            .join('\n'),
        ]
      }),
    )
    const publicFiles = globSync('*.pdf', { cwd: resolve(folder) })
      .sort()
      .map((name) => join(resolve(folder), name))
    if (publicFiles.length === 0)
      console.log(`${folder} has no PDFs. Pass a folder as the argument.`)
    // Loads modules before the first measured file.
    await ours([...drawn.keys()].slice(0, 1))
    const readings = await all([...drawn.keys(), ...publicFiles])
    againstDrawn(
      readings.filter(({ file }) => drawn.has(file)),
      drawn,
    )
    if (publicFiles.length > 0) againstEachOther(readings.filter(({ file }) => !drawn.has(file)))
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

async function all(files: string[]): Promise<Reading[]> {
  return [...(await ours(files)), ...theirs(files)]
}

async function ours(files: string[]): Promise<Reading[]> {
  const readings: Reading[] = []
  for (const file of files) {
    const bytes = new Uint8Array(readFileSync(file))
    const before = process.cpuUsage()
    const text = await parsePdf(bytes).then(
      ({ text }) => text,
      () => '',
    )
    const { user, system } = process.cpuUsage(before)
    readings.push({
      file,
      reader: OURS,
      text: text.replace(/^\| --- .*$/gm, ''),
      cpuMs: (user + system) / 1000,
    })
  }
  return readings
}

function theirs(files: string[]): Reading[] {
  const python = pythonWithPdfium()
  const poppler = pdftotext()
  if (poppler === null)
    console.log('pdftotext is not installed and has no package here, so it is skipped.')
  const input = JSON.stringify({
    files,
    pdftotext: poppler?.command ?? null,
    libraries: poppler?.libraries ?? '',
  })
  const options = {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    stdio: ['pipe', 'pipe', 'ignore'] as StdioOptions,
  } as const
  const { stdout } = spawnSync(python, [join(import.meta.dirname, 'pdf', 'peers.py')], options)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Reading)
}

function againstDrawn(readings: Reading[], drawn: ReadonlyMap<string, string>): void {
  const rows = [...Map.groupBy(readings, ({ reader }) => reader)].map(([reader, list]) => {
    const sums = summed(list.map(({ file, text }) => compareTexts(drawn.get(file) ?? '', text)))
    return [reader, ...percents(sums), formatCpu(list)]
  })
  printTable(
    `${drawn.size} drawn PDFs, compared with their source (${OURS} leaves out running heads on purpose)`,
    ['reader', 'words lost', 'words added', 'in order', 'CPU'],
    rows,
  )
}

function againstEachOther(readings: Reading[]): void {
  const byFile = Map.groupBy(readings, ({ file }) => file)
  const readers = [...new Set(readings.map(({ reader }) => reader))]
  const findText = (file: string, reader: string) =>
    byFile.get(file)?.find((one) => one.reader === reader)?.text ?? ''
  const rows = readers.flatMap((reader) =>
    readers
      .filter((other) => other !== reader)
      .map((other) => {
        const both = [...byFile.keys()].filter((file) =>
          [reader, other].every((one) => splitWords(findText(file, one)).length > 0),
        )
        const sums = summed(
          both.map((file) => compareTexts(findText(file, other), findText(file, reader))),
        )
        return [
          reader,
          other,
          both.length,
          ...percents(sums),
          formatCpu(readings.filter((one) => one.reader === reader)),
        ]
      }),
  )
  printTable(
    `${byFile.size} public PDFs, each reader compared with the others, over files that both read`,
    ['reader', 'compared with', 'files', 'words lost', 'words added', 'in order', 'CPU, all files'],
    rows,
  )
}

type Compared = {
  expected: number
  lost: number
  added: number
  pairs: number
  orderedPairs: number
}

/** Compares counts of words, and of pairs of consecutive words. */
function compareTexts(expected: string, text: string): Compared {
  const [a, b] = [splitWords(expected), splitWords(text)]
  const shared = common(countWords(a), countWords(b))
  const pairs = (words: string[]) => words.slice(1).map((word, i) => `${words[i]} ${word}`)
  const orderedPairs = common(countWords(pairs(a)), countWords(pairs(b)))
  return {
    expected: a.length,
    lost: a.length - shared,
    added: b.length - shared,
    pairs: Math.max(0, a.length - 1),
    orderedPairs,
  }
}

function splitWords(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

function countWords(words: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function common(a: Map<string, number>, b: Map<string, number>): number {
  return [...a].reduce((sum, [word, count]) => sum + Math.min(count, b.get(word) ?? 0), 0)
}

function summed(all: Compared[]): Compared {
  const sum = (name: keyof Compared) => all.reduce((total, one) => total + one[name], 0)
  return {
    expected: sum('expected'),
    lost: sum('lost'),
    added: sum('added'),
    pairs: sum('pairs'),
    orderedPairs: sum('orderedPairs'),
  }
}

function percents({ expected, lost, added, pairs, orderedPairs }: Compared): string[] {
  const percent = (part: number, whole: number) =>
    `${((part / Math.max(1, whole)) * 100).toFixed(2)} %`
  return [percent(lost, expected), percent(added, expected), percent(orderedPairs, pairs)]
}

function formatCpu(readings: Reading[]): string {
  return `${Math.round(readings.reduce((sum, { cpuMs }) => sum + cpuMs, 0))} ms`
}
