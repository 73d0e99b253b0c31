// Compares encrypted ZIPs of one release for many buyers: Latchkey's writer, zip.js, and 7z where
// installed. Each contender runs in a separate process and reads the same files; the kernel reports
// its peak memory. The contenders take turns, so that other load of the machine meets all of them.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printTable, quantile } from './lib/table.ts'
import { printReaders } from './zip/readers.ts'

export const description =
  'AES-256 ZIPs with Latchkey, zip.js and 7z: MB/s, peak memory, resumes; programs that open them'

const PASSWORD = 'LK-BENCH-0000'
const MB = 1_000_000
const ROUNDS = 5
const SEVEN_ZIP = ['7z', '7zz', '7za'].find((command) => !spawnSync(command).error)

type Corpus = { name: string; folder: string; files: number; bytes: number }
type Result = { seconds: number; peakMb: number | null; sizeMb: number }
type Contender = { name: string; run(): Promise<Result> }

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-zip-'))
  try {
    const [source, small, large] = [sourceCode(root), smallFiles(root), oneLarge(root)]
    for (const corpus of [source, small, large]) await measure(root, corpus)
    await printReaders(source.folder, join(root, 'readers'))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function measure(root: string, corpus: Corpus) {
  const cache = join(root, `${corpus.name}-cache`)
  const ours = (mode: string): Contender => ({
    name: mode,
    run: () => runScript('ours.ts', mode, corpus.folder, cache, PASSWORD),
  })
  const contenders: Contender[] = [
    {
      name: 'publish',
      async run() {
        rmSync(cache, { recursive: true, force: true })
        return ours('publish').run()
      },
    },
    ours('first buyer'),
    ours('next buyer'),
    ours('resume at 90 %'),
    ours('resume at 90 % on another node'),
    { name: 'node:crypto', run: () => runScript('crypto.ts', String(corpus.bytes)) },
    { name: 'zip.js', run: () => runScript('zip-js.ts', corpus.folder, PASSWORD) },
  ]
  if (SEVEN_ZIP) contenders.push({ name: '7z', run: () => sevenZip(root, corpus, SEVEN_ZIP) })

  const results = new Map<string, Result[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, run } of contenders) results.get(name)?.push(await run())

  const median = (name: string) =>
    quantile(
      (results.get(name) ?? []).map(({ seconds }) => seconds).sort((a, b) => a - b),
      0.5,
    )
  printTable(
    `${corpus.name}: ${corpus.files.toLocaleString('en')} files, ${(corpus.bytes / MB).toFixed(0)} MB; medians of ${ROUNDS}`,
    ['contender', 'seconds', 'input MB/s', 'peak MB', 'output MB'],
    [...results].map(([name, rounds]) => {
      const peaks = rounds.map(({ peakMb }) => peakMb ?? Number.NaN)
      return [
        name,
        median(name).toFixed(3),
        name.includes('resume') ? '–' : (corpus.bytes / MB / median(name)).toFixed(0),
        Number.isNaN(peaks[0]) ? '–' : Math.max(...peaks).toFixed(0),
        (rounds[0]?.sizeMb ?? 0).toFixed(1),
      ]
    }),
  )
  const ratio = (a: string, b: string) => (median(a) / median(b)).toFixed(2)
  // The release was packed when it was published, so the first buyer's work is the next one's.
  console.log(`  first buyer / next buyer: ${ratio('first buyer', 'next buyer')} (goal ≤ 1.2)`)
  if (corpus.files === 1)
    console.log(
      `  speed of the next buyer / node:crypto: ${ratio('node:crypto', 'next buyer')} (goal ≥ 0.7)`,
    )
  if (SEVEN_ZIP) console.log(`  next buyer / 7z: ${ratio('next buyer', '7z')} (goal ≤ 1)`)
}

/**
 * Runs a script that prints `{seconds, bytes}`. The script measures itself, to exclude the start of
 * its process.
 */
async function runScript(name: string, ...args: string[]): Promise<Result> {
  const script = join(import.meta.dirname, 'zip', name)
  const { output, peakMb } = await watch(process.execPath, [script, ...args])
  const { seconds, bytes } = JSON.parse(output) as { seconds: number; bytes: number }
  return { seconds, peakMb, sizeMb: bytes / MB }
}

async function sevenZip(root: string, corpus: Corpus, command: string): Promise<Result> {
  const archive = join(root, `${corpus.name}.zip`)
  // 7z would update an archive of the round before.
  rmSync(archive, { force: true })
  const startedMs = performance.now()
  const quiet = ['-bso0', '-bsp0']
  const { peakMb } = await watch(command, [
    'a',
    '-tzip',
    '-mem=AES256',
    `-p${PASSWORD}`,
    ...quiet,
    archive,
    corpus.folder,
  ])
  const seconds = (performance.now() - startedMs) / 1000
  return { seconds, peakMb, sizeMb: statSync(archive).size / MB }
}

function watch(
  command: string,
  args: string[],
): Promise<{ output: string; peakMb: number | null }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  let peakMb: number | null = null
  const timer = setInterval(() => {
    peakMb = readPeakMb(child.pid) ?? peakMb
  }, 10)
  child.stdout.on('data', (chunk) => {
    output += chunk
    peakMb = readPeakMb(child.pid) ?? peakMb
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      clearInterval(timer)
      if (code === 0) resolve({ output, peakMb })
      else reject(new Error(`${command} ended with ${code}`))
    })
  })
}

/** Returns the kernel's high-water mark; null without /proc. */
function readPeakMb(pid: number | undefined): number | null {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return found ? (Number(found) * 1024) / MB : null
  } catch {
    return null
  }
}

function sourceCode(root: string): Corpus {
  const words =
    'const function return await import export from if else throw new Error request reply user key'.split(
      ' ',
    )
  return corpus(root, 'source code', 100, 300_000, (random, size) => {
    let text = ''
    while (text.length < size)
      text += `${words[random() % words.length]}${random() % 4 === 0 ? `${random() % 1000}\n` : ' '}`
    return Buffer.from(text.slice(0, size))
  })
}

function smallFiles(root: string): Corpus {
  return corpus(root, 'small files', 5000, 3000, (random, size) =>
    Buffer.from(Array.from({ length: size }, () => 97 + (random() % 12))),
  )
}

function oneLarge(root: string): Corpus {
  return corpus(root, 'one large file that does not compress', 1, 100 * MB, (random, size) => {
    const bytes = Buffer.alloc(size)
    for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(random(), at)
    return bytes
  })
}

function corpus(
  root: string,
  name: string,
  files: number,
  size: number,
  make: (random: () => number, size: number) => Buffer,
): Corpus {
  const folder = join(root, name)
  let state = 42
  // xorshift32: the same corpus in every run, and noise that deflate cannot compress.
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let index = 0; index < files; index++) {
    const below = join(folder, String(index % 50))
    mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `${index}.txt`), make(random, size))
  }
  return { name, folder, files, bytes: files * size }
}
