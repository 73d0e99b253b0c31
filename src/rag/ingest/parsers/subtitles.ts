/** Subtitles (SubRip, WebVTT) as running text. A pause starts a paragraph, a speaker a line. */
import { parsePlainText } from './plain-text.ts'
import type { Reading } from './unreadable.ts'

const TIMES =
  /^\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})/
const PAUSE_SECONDS = 2

/** Returns a file without times as plain text. */
export async function parseSubtitles(bytes: Uint8Array): Promise<Reading> {
  const text = (await parsePlainText(bytes)).replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const lines = text.split('\n')
  const outline = { headings: [] }
  if (!lines.some((line) => TIMES.test(line))) return { text, outline, warnings: [] }

  let written = ''
  let last = ''
  let end = 0
  for (let at = 0; at < lines.length; at++) {
    const [, from = '', to = ''] = TIMES.exec(lines[at] ?? '') ?? []
    // Skips cue numbers, notes and styles up to the next times.
    if (from === '') continue
    let isFirst = true
    for (; isCueText(lines, at + 1); at++) {
      const line = removeTags(lines[at + 1] ?? '')
      // Rolling captions repeat each line.
      if (line === '' || line === last) continue
      const isAfterPause = isFirst && readSeconds(from) - end >= PAUSE_SECONDS
      if (written !== '') written += isAfterPause ? '\n\n' : separateLine(line)
      written += line
      last = line
      isFirst = false
    }
    end = readSeconds(to)
  }
  return { text: written, outline, warnings: [] }
}

/** Speakers begin a line: "- Yes.", "ANN: Hello". */
function separateLine(line: string): string {
  return /^(?:[-–—] ?\S|\S[^:]{0,40}: )/.test(line) ? '\n' : ' '
}

/** A blank line ends a cue; without one, the number or the times of the next cue end it. */
function isCueText(lines: readonly string[], at: number): boolean {
  const line = lines[at]?.trim() ?? ''
  if (line === '' || TIMES.test(line)) return false
  return !(/^\d+$/.test(line) && TIMES.test(lines[at + 1] ?? ''))
}

/** Converts `<v Ann>Hello</v>` to "Ann: Hello". */
function removeTags(line: string): string {
  return line
    .replace(/<v(?:\.[^\s<>]{1,100})? ([^<>]{1,100})>/g, '$1: ')
    .replace(/<[^<>]{1,200}>|\{\\[^{}]{1,100}\}/g, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => named[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', nbsp: ' ' }

function readSeconds(time: string): number {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part.replace(',', '.')), 0)
}
