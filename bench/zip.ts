// Compares encrypted ZIPs of one release for many buyers: Latchkey's writer, zip.js, and 7z where
// installed. Each contender runs in a separate process and reads the same files; the kernel reports
// its peak memory.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printTable } from './lib/table.ts'

export const description =
  'AES-256 ZIPs with Latchkey, zip.js and 7z: MB/s, peak memory, and a resume at 90 %'

const PASSWORD = 'LK-BENCH-0000'
const MB = 1_000_000

type Corpus = { name: string; folder: string; bytes: number }
type Result = { contender: string; seconds: number; peakMb: number | null; sizeMb: number }

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-zip-'))
  try {
    for (const corpus of [sourceCode(root), smallFiles(root), oneLarge(root)])
      await measure(root, corpus)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function measure(root: string, corpus: Corpus) {
  const cache = join(root, `${corpus.name}-cache`)
  const ours = (mode: string) =>
    contend(`Latchkey, ${mode}`, [script('ours.ts'), mode, corpus.folder, cache, PASSWORD])
  const results = [
    await ours('first buyer'),
    await ours('next buyer'),
    await ours('resume at 90 %'),
    await ours('resume at 90 % on another node'),
    await contend('zip.js, every buyer', [script('zip-js.ts'), corpus.folder, PASSWORD]),
  ]
  if (!spawnSync('7z').error) results.push(await sevenZip(root, corpus))

  printTable(
    `${corpus.name}: ${(corpus.bytes / MB).toFixed(0)} MB`,
    ['contender', 'seconds', 'input MB/s', 'peak MB', 'output MB'],
    results.map(({ contender, seconds, peakMb, sizeMb }) => [
      contender,
      seconds.toFixed(3),
      contender.includes('resume') ? '–' : (corpus.bytes / MB / seconds).toFixed(0),
      peakMb === null ? '–' : peakMb.toFixed(0),
      sizeMb.toFixed(1),
    ]),
  )
}

/**
 * Runs a script that prints `{seconds, bytes}`. The script measures itself, to exclude the start of
 * its process.
 */
async function contend(contender: string, args: string[]): Promise<Result> {
  const { output, peakMb } = await watched(process.execPath, args)
  const { seconds, bytes } = JSON.parse(output) as { seconds: number; bytes: number }
  return { contender, seconds, peakMb, sizeMb: bytes / MB }
}

async function sevenZip(root: string, corpus: Corpus): Promise<Result> {
  const archive = join(root, `${corpus.name}.zip`)
  const startedMs = performance.now()
  const args = [
    'a',
    '-tzip',
    '-mem=AES256',
    `-p${PASSWORD}`,
    '-bso0',
    '-bsp0',
    archive,
    corpus.folder,
  ]
  const { peakMb } = await watched('7z', args)
  const seconds = (performance.now() - startedMs) / 1000
  return { contender: '7z, every buyer', seconds, peakMb, sizeMb: statSync(archive).size / MB }
}

function watched(
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

function script(name: string): string {
  return join(import.meta.dirname, 'zip', name)
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
  return corpus(root, 'small files', 2000, 3000, (random, size) =>
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
  return { name, folder, bytes: files * size }
}
