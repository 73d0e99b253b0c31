/**
 * Web pages and the chapters of EPUBs as Markdown: headings, lists, tables, code. Nothing is fetched and nothing runs; scripts and styles are cut out
 * before the markup is walked. What a browser mends silently is taken as it comes: a tag without an end ends with what it is in.
 */
import { parsePlainText } from './plain-text.ts'
import { markdownTable, TABLES_DEEP_MAX } from './table.ts'
import type { Reading, Warning } from './unreadable.ts'
import { walkXml } from './xml.ts'

export async function parseHtml(bytes: Uint8Array): Promise<Reading> {
  const { text, hasPictures } = markdownOf(await decodeHtml(bytes))
  return { text, warnings: hasPictures ? [PICTURES] : [] }
}

export const PICTURES: Warning = { page: null, reason: 'Pictures are left out: text in them is not read.' }

/** What the page says of its encoding counts where its bytes do not speak against it. */
async function decodeHtml(bytes: Uint8Array): Promise<string> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1')
  const label = /<meta[^<>]{0,200}charset\s*=\s*["']?([\w-]{2,40})/i.exec(head)?.[1]
  const hasMark = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(head)
  if (label !== undefined && !hasMark && !/^utf-?16/i.test(label)) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes)
    } catch {
      // Unknown, or another one.
    }
  }
  return await parsePlainText(bytes)
}

const blocks = new Set(
  'address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr html legend main nav ol p section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
)
/** What a reader does not see. */
const hidden = new Set(['head', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'select', 'datalist'])
const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

type Part = { text: string; isItem: boolean }

type Table = {
  rows: string[][]
  cell: string[] | null
  /** What the cell reaches over. */
  columns: number
  down: number
  /** By column: up to which row, from 1, a cell of an earlier one reaches down. */
  takenUntil: number[]
}

/** Cells that a page's tables are filled up with; a few that reach far would make a table that no memory holds. */
const REACHED_MAX = 1_000_000

const SPAN_MAX = 1_000
function spanOf(value: string | undefined): number {
  return Math.min(SPAN_MAX, Math.max(1, Math.trunc(Number(value)) || 1))
}
/** Nothing reaches down beyond its group. */
const rowGroups = new Set(['thead', 'tbody', 'tfoot'])

export function markdownOf(html: string): { text: string; title: string; hasPictures: boolean } {
  const parts: Part[] = []
  const tables: Table[] = []
  const lists: { isOrdered: boolean; count: number }[] = []
  let line = ''
  let prefix = ''
  let isItem = false
  let pre = 0
  let skipped = 0
  let deeper = 0
  let inTitle = false
  let title = ''
  let hasPictures = false
  let reached = 0

  const place = (text: string) => {
    const cell = tables.at(-1)?.cell
    if (cell) cell.push(text)
    else parts.push({ text, isItem })
  }
  const flush = () => {
    const text =
      pre > 0
        ? line.replace(/^\n/, '').trimEnd()
        : line
            .replace(/[^\S\n]+/g, ' ')
            .replace(/ ?\n ?/g, '\n')
            .trim()
    if (text !== '') place(pre > 0 && tables.length === 0 ? `\`\`\`\n${text}\n\`\`\`` : prefix + text)
    if (text !== '') prefix = ''
    line = ''
  }

  const open = (name: string, attributes: () => Map<string, string>) => {
    if (name === 'title') inTitle = true
    if (hidden.has(name)) skipped++
    if (name === 'img') hasPictures = true
    if (skipped > 0) return
    if (name === 'br') line += '\n'
    const level = /^h([1-6])$/.exec(name)?.[1]
    if (level !== undefined || blocks.has(name) || name === 'li' || name === 'pre') flush()
    if (level !== undefined) prefix = `${'#'.repeat(Number(level))} `
    else if (name === 'pre') pre++
    else if (name === 'ul' || name === 'ol') lists.push({ isOrdered: name === 'ol', count: 0 })
    else if (name === 'li') {
      const list = lists.at(-1)
      prefix = `${'  '.repeat(Math.min(8, Math.max(0, lists.length - 1)))}${list?.isOrdered ? `${++list.count}.` : '-'} `
      isItem = true
    } else if (name === 'table' && tables.length === TABLES_DEEP_MAX) deeper++
    else if (deeper > 0) return
    else if (name === 'table') tables.push({ rows: [], cell: null, columns: 1, down: 1, takenUntil: [] })
    else if (rowGroups.has(name)) endGroup()
    else if (name === 'tr' || name === 'td' || name === 'th') {
      const table = tables.at(-1)
      if (table === undefined) return
      endCell(table)
      if (name === 'tr') table.rows.push([])
      else {
        table.cell = []
        table.columns = spanOf(attributes().get('colspan'))
        const down = attributes().get('rowspan')
        table.down = down === '0' ? SPAN_MAX : spanOf(down)
      }
    }
  }
  const endCell = (table: Table) => {
    if (table.cell === null) return
    if (table.rows.length === 0) table.rows.push([])
    const row = table.rows.at(-1) as string[]
    // What reaches over several columns or rows is the first of them, and the others are empty.
    while ((table.takenUntil[row.length] ?? 0) >= table.rows.length && reached++ < REACHED_MAX) row.push('')
    for (let i = 0; i < table.columns && (i === 0 || reached++ < REACHED_MAX); i++) {
      if (table.down > 1) table.takenUntil[row.length] = table.rows.length + table.down - 1
      row.push(i === 0 ? table.cell.join(' ') : '')
    }
    table.cell = null
  }
  const endGroup = () => {
    const table = tables.at(-1)
    if (table === undefined || deeper > 0) return
    endCell(table)
    table.takenUntil = []
  }
  const close = (name: string) => {
    if (name === 'title') inTitle = false
    if (hidden.has(name)) skipped = Math.max(0, skipped - 1)
    if (skipped > 0) return
    const isHeading = /^h[1-6]$/.test(name)
    if (isHeading || blocks.has(name) || name === 'li' || name === 'pre') flush()
    if (isHeading) prefix = ''
    else if (name === 'pre') pre = Math.max(0, pre - 1)
    else if (name === 'ul' || name === 'ol') {
      lists.pop()
      isItem = lists.length > 0
    } else if (name === 'li') {
      prefix = ''
      isItem = lists.length > 1
    } else if (name === 'td' || name === 'th' || name === 'tr') {
      const table = tables.at(-1)
      if (table && deeper === 0) endCell(table)
    } else if (rowGroups.has(name)) endGroup()
    else if (name === 'table' && deeper > 0) deeper--
    else if (name === 'table') {
      const table = tables.pop()
      if (!table) return
      endCell(table)
      const rows = table.rows.filter((row) => row.some((cell) => cell.trim() !== ''))
      // A table in a table, and one that only lays a page out.
      const filled = rows.map((row) => row.filter((cell) => cell.trim() !== ''))
      const isLayout = tables.length > 0 || filled.every((row) => row.length < 2)
      const text = isLayout
        ? filled.map((row) => row.join(tables.length > 0 ? ', ' : '\n\n')).join(tables.length > 0 ? '; ' : '\n\n')
        : markdownTable(rows)
      if (text !== '') place(text)
    }
  }

  walkXml(named(withoutScripts(html.replace(/<!doctype[^<>]*>/i, ''))), {
    open(qualified, attributes) {
      open(qualified.toLowerCase(), attributes)
    },
    close(qualified) {
      const name = qualified.toLowerCase()
      if (!voids.has(name)) close(name)
    },
    text(text) {
      if (inTitle) title += text
      else if (skipped === 0) line += pre > 0 ? text : text.replace(/\s+/g, ' ')
    },
  })
  flush()
  // What is still open ends here, also inside of what is hidden.
  skipped = 0
  deeper = 0
  while (tables.length > 0) close('table')

  return { text: joined(parts), title: title.replace(/\s+/g, ' ').trim(), hasPictures }
}

function joined(parts: readonly Part[]): string {
  let text = ''
  for (const [i, part] of parts.entries()) {
    const before = parts[i - 1]
    if (before) text += before.isItem && part.isItem ? '\n' : '\n\n'
    text += part.text
  }
  return text
}

/** One pass, also over a script that never ends. */
function withoutScripts(html: string): string {
  const opening = /<(script|style|textarea)(?=[\s/>])/gi
  let kept = ''
  let from = 0
  for (let match = opening.exec(html); match !== null; match = opening.exec(html)) {
    kept += html.slice(from, match.index)
    const closing = new RegExp(`</${match[1]}`, 'gi')
    closing.lastIndex = match.index
    const end = closing.exec(html)
    if (end === null) return kept
    const after = html.indexOf('>', end.index)
    if (after < 0) return kept
    from = after + 1
    opening.lastIndex = from
  }
  return kept + html.slice(from)
}

const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const GREEK_UPPER =
  'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega'
const entities = new Map<string, string>([
  ...LATIN.split(' ').map((name, i) => [name, String.fromCharCode(0xa0 + i)] as const),
  ...GREEK_UPPER.split(' ').flatMap(
    (name, i) =>
      [
        [name, String.fromCharCode(0x391 + i)],
        [name.toLowerCase(), String.fromCharCode(0x3b1 + i)],
      ] as [string, string][],
  ),
  ...Object.entries({
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    sbquo: '‚',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    hellip: '…',
    bull: '•',
    prime: '′',
    Prime: '″',
    lsaquo: '‹',
    rsaquo: '›',
    euro: '€',
    trade: '™',
    larr: '←',
    uarr: '↑',
    rarr: '→',
    darr: '↓',
    harr: '↔',
    rArr: '⇒',
    hArr: '⇔',
    forall: '∀',
    part: '∂',
    exist: '∃',
    empty: '∅',
    isin: '∈',
    notin: '∉',
    prod: '∏',
    sum: '∑',
    minus: '−',
    radic: '√',
    infin: '∞',
    cap: '∩',
    cup: '∪',
    int: '∫',
    asymp: '≈',
    ne: '≠',
    equiv: '≡',
    le: '≤',
    ge: '≥',
    sub: '⊂',
    sup: '⊃',
    OElig: 'Œ',
    oelig: 'œ',
    Scaron: 'Š',
    scaron: 'š',
    Yuml: 'Ÿ',
    fnof: 'ƒ',
    circ: 'ˆ',
    tilde: '˜',
    dagger: '†',
    Dagger: '‡',
    permil: '‰',
    thinsp: ' ',
    ensp: ' ',
    emsp: ' ',
    zwnj: '\u200c',
    zwj: '\u200d',
    check: '✓',
    star: '☆',
    sigmaf: 'ς',
  }),
])

/** The five that XML knows stay for its reader; one that nobody knows is told as it stands. */
function named(html: string): string {
  return html.replace(/&(\w{2,20});/g, (whole, name) => {
    if (/^(?:amp|lt|gt|quot|apos)$/.test(name)) return whole
    return entities.get(name) ?? `&amp;${name};`
  })
}
