/** Begins a paragraph, a list item or a table cell: marks do not reach over it. */
const PART = /\n[^\S\n]*\n|(?:^|\n)\s*(?:[-*+]|\d+[.)])\s|\|/g
const MARKS = /\\.|`+|\*\*|__|~~|[*_]/g

/**
 * Completes the marks that an unfinished text leaves open, so that bold text is bold from its first
 * letter: `**bo` becomes `**bo**`. Hides the target of a link, and maths, until they are complete.
 */
export function closeMarks(text: string): string {
  const last = [...text.matchAll(PART)].at(-1)
  const from = last ? last.index + last[0].length : 0
  return text.slice(0, from) + closePart(hideUnfinished(text.slice(from)))
}

function hideUnfinished(part: string): string {
  return part
    .slice(0, findOpenMaths(part))
    .replace(/!\[[^\]\n]*(?:\](?:\([^)\n]*)?)?$/, '')
    .replace(/\[([^\]\n]*)\]\([^)\n]*$/, '$1')
}

/** Returns where maths without an end begins, or undefined. */
function findOpenMaths(part: string): number | undefined {
  if (part.split('$$').length % 2 === 0) return part.lastIndexOf('$$')
  const bracket = Math.max(part.lastIndexOf('\\('), part.lastIndexOf('\\['))
  return bracket >= 0 && !/\\[)\]]/.test(part.slice(bracket)) ? bracket : undefined
}

function closePart(part: string): string {
  const open: string[] = []
  let end = part.length
  MARKS.lastIndex = 0
  for (let match = MARKS.exec(part); match; match = MARKS.exec(part)) {
    const mark = match[0]
    const at = match.index
    if (mark.startsWith('\\')) continue
    if (mark.startsWith('`')) {
      const closes = findRun(part, mark, at + mark.length)
      if (closes < 0) {
        if (at + mark.length === part.length) end = at
        else open.push(mark)
        break
      }
      MARKS.lastIndex = closes + mark.length
      continue
    }
    const before = part[at - 1] ?? ' '
    const after = part[at + mark.length]
    if (mark.startsWith('_') && isLetter(before) && after !== undefined && isLetter(after)) continue
    const closed = open.lastIndexOf(mark)
    if (closed >= 0 && !/\s/.test(before)) open.splice(closed)
    else if (after === undefined) end = at
    else if (!/\s/.test(after)) open.push(mark)
  }
  if (end === part.length && open.length === 0) return part
  // A mark closes only behind a letter.
  const kept = part.slice(0, end)
  return open.length === 0 ? kept : kept.trimEnd() + open.reverse().join('')
}

/** Returns where the same number of backticks stands again, or -1. */
function findRun(text: string, run: string, from: number): number {
  for (const match of text.slice(from).matchAll(/`+/g)) {
    if (match[0] === run) return from + match.index
  }
  return -1
}

function isLetter(letter: string): boolean {
  return /[\p{L}\p{N}]/u.test(letter)
}
