// Formulas of MathML and of Office (OMML) on one line: `(a)/(b)`, `x^2`, `x_(i+1)`, `√(x)`. The
// element names of the two do not collide, so one table has the writers of both.
import { wordSet } from '#platform/words.ts'

/** An element's children as written, in order; OMML finds them by name, MathML by position. */
type Parts = { name: string; text: string }[]
type Element = {
  name: string
  parts: Parts
  marks: Marks
  /** Whether its text includes elements that are too deep to be written. */
  isFlat: boolean
}
/** Characters in the properties of OMML elements, and in the attributes of MathML elements. */
type Marks = { [name in 'open' | 'close' | 'separators' | 'chr' | 'type']?: string | undefined }

/** Deeper elements are read as plain text: each level may copy the text of the levels inside it. */
const DEEP_MAX = 100

export class FormulaReader {
  #open: Element[] = [{ name: '', parts: [], marks: {}, isFlat: false }]
  #tooDeep = 0

  open(name: string, attribute: (name: string) => string | undefined): void {
    const around = this.#open.at(-1)
    if (around && this.#open.length > DEEP_MAX) {
      around.isFlat = true
      this.#tooDeep++
      return
    }
    const mark = markNames[name]
    const owner = this.#open.at(-2)
    if (mark !== undefined && owner) owner.marks[mark] = attribute('val') ?? ''
    const own = name === 'mfenced' || name === 'mfrac' ? readMarks(attribute) : {}
    this.#open.push({ name, parts: [], marks: own, isFlat: false })
  }

  text(text: string): void {
    const written = text
      .replace(/\u2061/g, ' ')
      .replace(INVISIBLE, '')
      .replace(/\s+/g, ' ')
    if (written !== '') this.#open.at(-1)?.parts.push({ name: '', text: written })
  }

  close(name: string): void {
    if (this.#tooDeep > 0) {
      this.#tooDeep--
      return
    }
    const element = this.#open.at(-1)
    // Skips an end tag without its element.
    if (element === undefined || element.name !== name || this.#open.length === 1) return
    this.#open.pop()
    this.#open.at(-1)?.parts.push({ name, text: writeElement(element) })
  }

  /** Returns the whole formula, including the parts that a damaged file leaves open. */
  end(): string {
    this.#tooDeep = 0
    for (const { name } of this.#open.slice(1).reverse()) this.close(name)
    return joined(this.#open[0]?.parts ?? [])
      .replace(/\s+/g, ' ')
      .trim()
  }
}

/** Invisible times and comma; function application (U+2061) is a space. */
const INVISIBLE = /[\u2062-\u2063]/g

const markNames: Record<string, keyof Marks> = {
  begChr: 'open',
  endChr: 'close',
  sepChr: 'separators',
  chr: 'chr',
  type: 'type',
}

const readMarks = (attribute: (name: string) => string | undefined): Marks => ({
  open: attribute('open'),
  close: attribute('close'),
  separators: attribute('separators'),
  type: /^0(?!\.)/.test(attribute('linethickness') ?? '') ? 'noBar' : undefined,
})

/** The elements of MathML that are read here. */
export const mathElements = wordSet(
  'math mrow mi mn mo ms mtext mspace mfrac msup msub msubsup munder mover munderover msqrt',
  'mroot mfenced mtable mtr mlabeledtr mtd mmultiscripts mprescripts none semantics',
  'annotation annotation-xml maction mphantom mpadded mstyle menclose merror',
)

const writers: Record<string, (parts: Parts, marks: Marks) => string> = {
  // MathML
  mo: (parts) => spaced(joined(parts)),
  mspace: () => ' ',
  mfrac: (parts, marks) => fraction(at(parts, 0), at(parts, 1), marks),
  msup: (parts) => raised(at(parts, 0), '', at(parts, 1)),
  msub: (parts) => raised(at(parts, 0), at(parts, 1), ''),
  msubsup: (parts) => raised(at(parts, 0), at(parts, 1), at(parts, 2)),
  munder: (parts) => raised(at(parts, 0), at(parts, 1), ''),
  mover: (parts) => accented(at(parts, 0), at(parts, 1)),
  munderover: (parts) => raised(at(parts, 0), at(parts, 1), at(parts, 2)),
  mmultiscripts: multiscripts,
  msqrt: (parts) => `√(${joined(parts)})`,
  mroot: (parts) => root(at(parts, 0), at(parts, 1)),
  mfenced: (parts, { open = '(', close = ')', separators = ',' }) =>
    open + elements(parts).join(`${separators.trim()[0] ?? ''} `) + close,
  mtable: matrix,
  mtr: (parts) => elements(parts).join(', '),
  mlabeledtr: (parts) => elements(parts).slice(1).join(', '),
  semantics: (parts) => at(parts, 0),
  maction: (parts) => at(parts, 0),
  none: () => '',
  mphantom: () => '',
  annotation: () => '',
  'annotation-xml': () => '',
  // OMML
  f: (parts, marks) => fraction(named(parts, 'num'), named(parts, 'den'), marks),
  sSup: (parts) => raised(named(parts, 'e'), '', named(parts, 'sup')),
  sSub: (parts) => raised(named(parts, 'e'), named(parts, 'sub'), ''),
  sSubSup: (parts) => raised(named(parts, 'e'), named(parts, 'sub'), named(parts, 'sup')),
  sPre: (parts) => `${raised('', named(parts, 'sub'), named(parts, 'sup'))} ${named(parts, 'e')}`,
  rad: (parts) => root(named(parts, 'e'), named(parts, 'deg')),
  nary: (parts, { chr = '∫' }) =>
    `${raised(chr, named(parts, 'sub'), named(parts, 'sup'))} ${named(parts, 'e')}`,
  d: (parts, { open = '(', close = ')', separators = '|' }) =>
    open + all(parts, 'e').join(separators) + close,
  func: (parts) => applied(named(parts, 'fName'), named(parts, 'e')),
  limLow: (parts) => raised(named(parts, 'e'), named(parts, 'lim'), ''),
  limUpp: (parts) => raised(named(parts, 'e'), '', named(parts, 'lim')),
  m: matrix,
  mr: (parts) => all(parts, 'e').join(', '),
  eqArr: (parts) => all(parts, 'e').join('; '),
  acc: (parts, { chr = '\u0302' }) => accented(named(parts, 'e'), chr),
  bar: (parts) => `${grouped(named(parts, 'e'))}\u0305`,
  phant: () => '',
}

function writeElement({ name, parts, marks, isFlat }: Element): string {
  // OMML properties only change the appearance of a formula.
  if (name.endsWith('Pr')) return ''
  const write = !isFlat && Object.hasOwn(writers, name) ? writers[name] : undefined
  return write ? write(parts, marks) : joined(parts)
}

/** A space separates adjacent numbers, and ends a script. */
function joined(parts: Parts): string {
  let text = ''
  let before = { name: '', text: '' }
  for (const part of parts) {
    if (part.text === '') continue
    const end = before.text.slice(-2)
    const runsOn = scripted.has(before.name)
      ? /[\p{L}\p{N}]$/u.test(end)
      : /\p{N}$/u.test(end) && /^\p{N}/u.test(part.text)
    if (runsOn && /^[\p{L}\p{N}]/u.test(part.text)) text += ' '
    text += part.text
    before = part
  }
  return text
}

const scripted = wordSet(
  'msup msub msubsup munder mover munderover mmultiscripts sSup sSub sSubSup limLow limUpp',
)

const elements = (parts: Parts) =>
  parts.filter(({ name }) => name !== '').map(({ text }) => text.trim())
const at = (parts: Parts, index: number) => elements(parts)[index] ?? ''
const all = (parts: Parts, name: string) =>
  parts.filter((part) => part.name === name).map(({ text }) => text.trim())
const named = (parts: Parts, name: string) => all(parts, name).join('')

function spaced(operator: string): string {
  const sign = operator.trim()
  return /^[=≠<>≤≥≈≡→⇒⇔∈∝≪≫]$/u.test(sign) ? ` ${sign} ` : sign || operator
}

/** A fraction without its bar is a binomial coefficient. */
function fraction(above: string, below: string, { type }: Marks): string {
  return type === 'noBar' ? `(${above}; ${below})` : `(${above})/(${below})`
}

function root(of: string, degree: string): string {
  return degree === '' ? `√(${of})` : `(${of})^(1/${grouped(degree)})`
}

function raised(base: string, below: string, above: string): string {
  return (
    base + (below === '' ? '' : `_${grouped(below)}`) + (above === '' ? '' : `^${grouped(above)}`)
  )
}

const accents: Record<string, string> = {
  '^': '\u0302',
  ˆ: '\u0302',
  '~': '\u0303',
  '˜': '\u0303',
  '¯': '\u0305',
  '‾': '\u0305',
  '→': '\u20d7',
  '˙': '\u0307',
  '¨': '\u0308',
}

function accented(base: string, sign: string): string {
  const accent = /^\p{M}$/u.test(sign) ? sign : accents[sign]
  return accent === undefined ? raised(base, '', sign) : grouped(base) + accent
}

/** A single name, number or sign needs no parentheses. */
function grouped(text: string): string {
  return /^[+\-−±]?[\p{L}\p{M}\p{N}.,]+$/u.test(text) || text.length < 2
    ? text
    : parenthesized(text)
}

function applied(name: string, argument: string): string {
  return argument.startsWith('(') ? name + argument : `${name}(${argument})`
}

function matrix(parts: Parts): string {
  return `[${elements(parts)
    .filter((row) => row !== '')
    .join('; ')}]`
}

function multiscripts(parts: Parts): string {
  const before = parts.findIndex(({ name }) => name === 'mprescripts')
  const [base = '', ...after] = elements(before < 0 ? parts : parts.slice(0, before))
  const pairs = (scripts: string[]) =>
    scripts.flatMap((sub, i) => (i % 2 === 0 ? raised('', sub, scripts[i + 1] ?? '') : [])).join('')
  const front = before < 0 ? '' : pairs(elements(parts.slice(before + 1)))
  return (front === '' ? '' : `${front} `) + base + pairs(after)
}

/** Raised, lowered, or neither. */
export type Script = '^' | '_' | ''

/** Reads the `vertAlign` of Word and Excel. */
export function readScript(position: string | undefined): Script {
  return position === 'superscript' ? '^' : position === 'subscript' ? '_' : ''
}

/** Marks raised and lowered text, `10^3`, `x_1`, except where a search must find CO2 or `1st`. */
export class ScriptedText {
  #text = ''
  /** The end of the text; reading it from a long text would copy the text each time. */
  #tail = ''
  #script: Script = ''
  #pending = ''
  /** Whether the text ends with a script that would merge with a following letter. */
  #isOpen = false

  add(text: string, script: Script = ''): void {
    if (script !== this.#script) this.#settle()
    this.#script = script
    if (script === '') this.#append(this.#isOpen && /^[\p{L}\p{N}]/u.test(text) ? ` ${text}` : text)
    else this.#pending += text
  }

  toString(): string {
    this.#settle()
    return this.#text
  }

  #settle(): void {
    if (this.#pending === '') return
    const written = markScript(this.#tail, this.#pending, this.#script)
    this.#append(written)
    this.#isOpen = written !== this.#pending && /[\p{L}\d]$/u.test(written)
    this.#pending = ''
    this.#script = ''
  }

  #append(text: string): void {
    if (text !== '') this.#isOpen = false
    this.#text += text
    this.#tail = (this.#tail + text.slice(-100)).slice(-100)
  }
}

const ORDINAL = /^(?:st|nd|rd|th|er|re|ère|ème)$/i
const ELEMENT = /(?:^|[^\p{Ll}\p{N}_])(?:[A-Z][a-z]?|[)\]])$/u

/** Depends on the text before it; ordinals, notes such as `[1]` and signs get no mark. */
export function markScript(before: string, text: string, script: Script): string {
  const inner = text.trim()
  if (!/[\p{L}\p{N}]/u.test(inner) || /^\[.*\]$/s.test(inner) || inner.includes('\n')) return text
  // At the start of a line it has no base: it is the number of a note.
  if (/(?:^|\n)\s*$/.test(before)) return text
  if (script === '^' && ORDINAL.test(inner) && /\d$/.test(before)) return text
  if (script === '_' && /^\d+$/.test(inner) && ELEMENT.test(before))
    return text.replace(/\d/g, (digit) => String.fromCharCode(0x2080 + Number(digit)))
  const sign = /^[+\-−±]?[\p{L}\p{M}\p{N}.,]+[+\-−*]?$/u.test(inner) ? inner : parenthesized(inner)
  return text.replace(inner, () => script + sign)
}

const parenthesized = (text: string) => (/^\([^()]*\)$/.test(text) ? text : `(${text})`)
