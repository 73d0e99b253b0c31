// Rich Text Format (RTF 1.9.1) as Markdown, in one pass; groups inherit the state of the group
// around them. Skips fonts, pictures, hidden and deleted text, and unlisted destinations after
// `\*`.
import { wordSet } from '#platform/words.ts'
import type { Script } from './formulas.ts'
import { decodeBytes, findCodePage, SYMBOL_PAGE } from './rtf-encoding.ts'
import { type ParagraphStyle, RtfFlow } from './rtf-flow.ts'
import { PICTURES, type Reading, Unreadable } from './unreadable.ts'

/** @throws Unreadable for other files than RTF, and for too deeply nested groups */
export function parseRtf(bytes: Uint8Array): Reading {
  if (!/^(?:\xef\xbb\xbf)?\s*\{\s*\\rtf/.test(readAscii(bytes, 0, 100)))
    throw new Unreadable('The file is named .rtf but is not an RTF document.')
  return new RtfReader(bytes).read()
}

/** The part of the document to which a group's text belongs. */
type Target = 'text' | 'label' | 'fonts' | 'styles' | 'skipped'

type State = {
  target: Target
  flow: RtfFlow
  /** Decides the destination of the text at the end of the group. */
  flowKind: FlowKind
  codePage: number
  /** Characters to skip after each `\u`: its replacement for older readers. */
  replacementLength: number
  script: Script
  isHidden: boolean
  isDeleted: boolean
  style: number
  outlineLevel: number | null
  listLevel: number | null
  isInList: boolean
  tableDepth: number
}

type FlowKind = 'body' | 'note' | 'box' | 'margin'
type Destination = Target | Exclude<FlowKind, 'body'>

const GROUPS_MAX = 5_000
const LETTERS_MAX = 32
const HEADING_MAX = 6
const Backslash = 0x5c
const OpenBrace = 0x7b
const CloseBrace = 0x7d

class RtfReader {
  readonly #bytes: Uint8Array
  readonly #warnings = new Set<string>()
  readonly #notes: string[] = []
  readonly #fontPages = new Map<number, number>()
  readonly #headings = new Map<number, number>()
  readonly #groups: State[] = []
  #state: State
  #at = 0
  /** The code page of the document, and its first font. */
  #codePage = 1252
  #defaultFont = 0
  /** True when the next control word follows a `\*`. */
  #isOptional = false
  #toSkip = 0
  /** Bytes and text that share a code page and a script. */
  #pending = new Uint8Array(1_024)
  #pendingLength = 0
  #text = ''
  /** The entry of the font table or of the style sheet that is being read. */
  #font = 0
  #styleName = ''
  #edges: number[] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#state = {
      target: 'text',
      flow: new RtfFlow(),
      flowKind: 'body',
      codePage: this.#codePage,
      replacementLength: 1,
      script: '',
      isHidden: false,
      isDeleted: false,
      style: 0,
      outlineLevel: null,
      listLevel: null,
      isInList: false,
      tableDepth: 0,
    }
  }

  read(): Reading {
    const bytes = this.#bytes
    while (this.#at < bytes.length) {
      const byte = bytes[this.#at++] as number
      if (byte === Backslash) this.#readControl()
      else if (byte === OpenBrace) this.#openGroup()
      else if (byte === CloseBrace) {
        if (this.#groups.length < 2) break
        this.#closeGroup()
      } else if (byte !== 0x0a && byte !== 0x0d && byte !== 0) this.#addByte(byte)
    }
    while (this.#groups.length > 1) this.#closeGroup()
    this.#flush()
    const body = this.#state.flow.end(this.#paragraphStyle())
    return {
      text: [body, ...this.#notes].filter((part) => part !== '').join('\n\n'),
      warnings: [...this.#warnings].map((reason) => ({ page: null, reason })),
    }
  }

  #openGroup(): void {
    this.#flush()
    this.#toSkip = 0
    this.#isOptional = false
    if (this.#groups.length >= GROUPS_MAX)
      throw new Unreadable('The document is nested too deeply to be read.')
    this.#groups.push(this.#state)
    this.#state = { ...this.#state }
  }

  #closeGroup(): void {
    this.#flush()
    this.#toSkip = 0
    const closed = this.#state
    const state = this.#groups.pop() as State
    this.#state = state
    if (closed.target === 'styles') this.#endStyle(closed)
    if (closed.target === 'fonts' && state.target !== 'fonts') this.#setFont(this.#defaultFont)
    if (closed.flow !== state.flow) this.#endFlow(closed)
  }

  #endFlow({ flow, flowKind }: State): void {
    const text = flow.end(PLAIN)
    if (text === '') return
    if (flowKind === 'note') this.#notes.push(text)
    else if (flowKind === 'margin') this.#warnings.add('Page headers and footers are left out.')
    else this.#state.flow.addBox(text, this.#state.tableDepth)
  }

  /** Reads the text after a backslash. */
  #readControl(): void {
    const bytes = this.#bytes
    const start = this.#at
    while (isLetter(bytes[this.#at]) && this.#at - start < LETTERS_MAX) this.#at++
    if (this.#at === start) {
      this.#readSymbol(bytes[this.#at++] ?? 0)
      return
    }
    const word = readAscii(bytes, start, this.#at)
    const value = this.#readNumber()
    if (bytes[this.#at] === 0x20) this.#at++
    if (word === 'bin') this.#at = Math.min(bytes.length, this.#at + Math.max(0, value ?? 0))
    const isOptional = this.#isOptional
    this.#isOptional = false
    const isReplacement = this.#toSkip > 0
    if (isReplacement) this.#toSkip--
    if (isReplacement && characters.has(word)) return
    if (isOptional && !optionalDestinations.has(word)) this.#skipGroup(word)
    else this.#apply(word, value)
  }

  #readNumber(): number | null {
    const bytes = this.#bytes
    const start = this.#at
    if (bytes[this.#at] === 0x2d) this.#at++
    while (isDigit(bytes[this.#at]) && this.#at - start < 11) this.#at++
    const digits = readAscii(bytes, start, this.#at)
    return digits === '' || digits === '-' ? null : Number(digits)
  }

  #readSymbol(byte: number): void {
    const symbol = String.fromCharCode(byte)
    if (symbol === "'") {
      const digits = readAscii(this.#bytes, this.#at, this.#at + 2)
      if (!/^[\da-f]{2}$/i.test(digits)) return
      this.#at += 2
      this.#addByte(Number.parseInt(digits, 16))
    } else if (symbol === '\\' || symbol === '{' || symbol === '}') this.#addByte(byte)
    else if (symbol === '*') this.#isOptional = true
    else if (this.#toSkip > 0) this.#toSkip--
    else if (symbol === '~') this.#addText('\u00a0')
    else if (symbol === '_') this.#addText('-')
    else if (symbol === '\n' || symbol === '\r') this.#apply('par', null)
    else if (symbol === '\t') this.#apply('tab', null)
  }

  #apply(word: string, value: number | null): void {
    const state = this.#state
    const character = characters.get(word)
    if (character !== undefined) this.#addText(character)
    else if (word === 'u') this.#addUnicode(value ?? 0)
    else if (word === 'uc') state.replacementLength = Math.max(0, value ?? 1)
    else if (word === 'f') this.#setFont(value ?? 0)
    else if (state.target === 'fonts') this.#describeFont(word, value)
    else if (destinations.has(word)) this.#openDestination(word)
    else if (state.target === 'styles') this.#describeStyle(word, value)
    else if (state.target === 'text') {
      if (!this.#applyBreak(word)) this.#applyParagraph(word, value)
      this.#applyCharacter(word, value)
    } else this.#applyCharacter(word, value)
    if (word === 'ansicpg') this.#setCodePage(value ?? 1252)
    else if (word === 'mac') this.#setCodePage(10_000)
    else if (word === 'pc') this.#setCodePage(437)
    else if (word === 'pca') this.#setCodePage(850)
    else if (word === 'deff') this.#defaultFont = value ?? 0
  }

  #applyBreak(word: string): boolean {
    if (!breaks.has(word)) return false
    this.#flush()
    const { flow } = this.#state
    const style = this.#paragraphStyle()
    if (word === 'cell') flow.endCell(style)
    else if (word === 'nestcell') flow.endInnerCell(style)
    else if (word === 'nestrow') flow.endInnerRow()
    else if (word === 'row') {
      flow.endRow(this.#edges)
      // Some writers do not reset the paragraph after the last row.
      this.#state.tableDepth = 0
    } else flow.endParagraph(style)
    return true
  }

  #applyParagraph(word: string, value: number | null): void {
    const state = this.#state
    if (word === 'pard') Object.assign(state, PARAGRAPH)
    else if (word === 's') state.style = value ?? 0
    else if (word === 'outlinelevel') state.outlineLevel = value
    else if (word === 'ls') state.isInList = value !== 0
    else if (word === 'ilvl') state.listLevel = value
    else if (word === 'intbl') state.tableDepth = Math.max(1, state.tableDepth)
    else if (word === 'itap') state.tableDepth = Math.max(0, value ?? 1)
    else if (word === 'trowd') this.#edges = []
    else if (word === 'cellx' && this.#edges.length < CELLS_MAX) this.#edges.push(value ?? 0)
  }

  #applyCharacter(word: string, value: number | null): void {
    const state = this.#state
    if (!characterWords.has(word)) return
    this.#flush()
    const isOn = value !== 0
    if (word === 'v' || word === 'webhidden') state.isHidden = isOn
    else if (word === 'deleted') state.isDeleted = isOn
    else if (word === 'super') state.script = isOn ? '^' : ''
    else if (word === 'sub') state.script = isOn ? '_' : ''
    else if (word === 'nosupersub') state.script = ''
    else if (word === 'up' || word === 'dn')
      state.script = (value ?? 6) > 0 ? (word === 'up' ? '^' : '_') : ''
    else if (word === 'plain') {
      Object.assign(state, { isHidden: false, isDeleted: false, script: '' })
      this.#setFont(this.#defaultFont)
    }
  }

  #openDestination(word: string): void {
    const state = this.#state
    const destination = destinations.get(word)
    if (state.target === 'skipped' || destination === undefined) return
    if (destination === 'note' || destination === 'box' || destination === 'margin')
      Object.assign(state, {
        ...PARAGRAPH,
        flow: new RtfFlow(),
        flowKind: destination,
        script: '',
      })
    else if (destination === 'skipped') this.#skipGroup(word)
    else if (destination !== 'text') state.target = destination
  }

  #skipGroup(word: string, reason = reasons.get(word)): void {
    const isShown = this.#state.target === 'text' && !this.#state.isHidden
    if (reason !== undefined && isShown) this.#warnings.add(reason)
    this.#state.target = 'skipped'
  }

  #setCodePage(codePage: number): void {
    this.#flush()
    this.#codePage = codePage
    this.#state.codePage = codePage
  }

  #setFont(font: number): void {
    if (this.#state.target === 'fonts') this.#font = font
    else {
      this.#flush()
      this.#state.codePage = this.#fontPages.get(font) ?? this.#codePage
    }
  }

  #describeFont(word: string, value: number | null): void {
    const page = word === 'cpg' ? (value ?? undefined) : undefined
    const codePage = word === 'fcharset' ? findCodePage(value ?? 0) : page
    // A code page of 0 means that of the charset.
    if (codePage) this.#fontPages.set(this.#font, codePage)
  }

  #describeStyle(word: string, value: number | null): void {
    // Styles of characters are numbered separately.
    if (word === 'cs' || word === 'ts' || word === 'ds') this.#state.target = 'skipped'
    else if (word === 's') this.#state.style = value ?? 0
    else if (word === 'outlinelevel') this.#state.outlineLevel = value
  }

  #endStyle({ style, outlineLevel }: State): void {
    const name = this.#styleName.replace(/;.*/s, '').trim().toLowerCase()
    this.#styleName = ''
    const level = Number(/^heading ([1-6])$/.exec(name)?.[1] ?? (name === 'title' ? 1 : 0))
    const heading = outlineLevel === null ? level : outlineLevel + 1
    if (heading > 0 && heading <= HEADING_MAX) this.#headings.set(style, heading)
  }

  #paragraphStyle(): ParagraphStyle {
    const { style, outlineLevel, listLevel, isInList, tableDepth } = this.#state
    const heading = outlineLevel === null ? (this.#headings.get(style) ?? 0) : outlineLevel + 1
    return {
      heading: heading > 0 && heading <= HEADING_MAX ? heading : 0,
      listLevel: isInList ? Math.max(0, listLevel ?? 0) : null,
      tableDepth,
    }
  }

  /** Adds a UTF-16 unit; negative numbers encode units beyond 32,767. */
  #addUnicode(value: number): void {
    const unit = value & 0xffff
    // Symbol fonts use the Private Use Area.
    if (unit >= 0xf000 && unit <= 0xf0ff) this.#addSymbol(unit - 0xf000)
    else
      this.#addText(
        value > 0xffff && value <= 0x10ffff
          ? String.fromCodePoint(value)
          : String.fromCharCode(unit),
      )
    this.#toSkip = this.#state.replacementLength
  }

  #addByte(byte: number): void {
    if (this.#toSkip > 0) {
      this.#toSkip--
      return
    }
    if (!this.#isRead()) return
    if (this.#state.codePage === SYMBOL_PAGE) {
      this.#addSymbol(byte)
      return
    }
    if (this.#pendingLength === this.#pending.length) {
      const longer = new Uint8Array(this.#pendingLength * 2)
      longer.set(this.#pending)
      this.#pending = longer
    }
    this.#pending[this.#pendingLength++] = byte
  }

  #addText(text: string): void {
    if (!this.#isRead()) return
    this.#decode()
    this.#text += text
  }

  #addSymbol(byte: number): void {
    if (byte === 0xb7 || this.#state.target === 'label') this.#addText('•')
    else if (byte === 0x20) this.#addText(' ')
    else if (this.#isRead() && this.#state.target === 'text')
      this.#warnings.add('Characters of symbol fonts are left out.')
  }

  #isRead(): boolean {
    const { target, isHidden, isDeleted } = this.#state
    if (target === 'styles') return true
    return (target === 'text' || target === 'label') && !isHidden && !isDeleted
  }

  #decode(): void {
    if (this.#pendingLength === 0) return
    this.#text += decodeBytes(this.#pending.subarray(0, this.#pendingLength), this.#state.codePage)
    this.#pendingLength = 0
  }

  /** Writes the pending text before the state changes. */
  #flush(): void {
    this.#decode()
    const text = this.#text
    if (text === '') return
    this.#text = ''
    const { target, flow, script, tableDepth } = this.#state
    if (target === 'label') flow.addLabel(text)
    else if (target === 'styles') this.#styleName += text
    else flow.addText(tableDepth > 0 ? text.replace(/\s+/g, ' ') : text, script)
  }
}

const PARAGRAPH = { style: 0, outlineLevel: null, listLevel: null, isInList: false, tableDepth: 0 }
const PLAIN: ParagraphStyle = { heading: 0, listLevel: null, tableDepth: 0 }
const CELLS_MAX = 1_000

const characters = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['page', '\n'],
  ['column', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['emspace', '\u2003'],
  ['enspace', '\u2002'],
  ['qmspace', '\u2005'],
  ['zwj', '\u200d'],
  ['zwnj', '\u200c'],
])

const breaks = wordSet('par sect cell row nestcell nestrow')
const characterWords = wordSet('v webhidden deleted super sub nosupersub up dn plain')

/** Groups whose text is of another kind than the text around them. */
const destinationWords: Record<Destination, string> = {
  text: 'shpinst nesttableprops shppict do',
  fonts: 'fonttbl',
  styles: 'stylesheet',
  label: 'listtext pntext',
  note: 'footnote',
  box: 'shptxt dptxbxtext',
  margin: 'header headerl headerr headerf footer footerl footerr footerf',
  // Descriptions, index entries, and copies for older readers of text that is read elsewhere.
  skipped:
    'colortbl info sp filetbl revtbl pn xe tc rxe mmath objdata pict nonshppict shprslt nonesttables annotation',
}
const destinations = new Map(
  Object.entries(destinationWords).flatMap(([destination, words]) =>
    words.split(' ').map((word) => [word, destination as Destination]),
  ),
)

/** Destinations that are read although `\*` marks them as optional. */
const optionalDestinations = wordSet(
  'shpinst nesttableprops shppict do listtext pntext footnote fonttbl stylesheet pict',
)

/** Warnings by skipped group. */
const reasons = new Map([
  ['pict', PICTURES.reason],
  ['annotation', 'Comments are left out.'],
  ['objdata', 'Embedded documents are left out.'],
  ['mmath', 'Formulas are left out.'],
])

const isLetter = (byte = 0) => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39

function readAscii(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
