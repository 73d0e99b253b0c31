// Finds sentence ends in many languages, reading each character once: Intl.Segmenter is slow and
// ends sentences after "Dr.". Precision before recall: a wrong end cuts a sentence, a missed one
// only costs a place to break.

const Other = 0
export const Newline = 1
/** . ! ? … that end a sentence only before white space. */
export const Stop = 2
/** 。！？ and the marks of scripts that write no space after them. */
export const FullStop = 3
/** , ; : before white space. */
export const Comma = 4
/** 、，；： */
export const FullComma = 5
export const Space = 6

export type Mark = 0 | 1 | 2 | 3 | 4 | 5 | 6

const marks = buildMarkTable()

/** Returns the class of a UTF-16 unit. */
export function classifyMark(code: number): Mark {
  return marks[code] as Mark
}

export function isSpace(code: number): boolean {
  const mark = marks[code]
  return mark === Space || mark === Newline
}

/**
 * Returns the index just after the mark at `at` and its closing quotes when the mark ends a
 * sentence, else -1. White space after the sentence is not included. In `caseless` text (see
 * isCaseless) a lower-case letter may start a sentence.
 */
export function sentenceEnd(text: string, at: number, caseless = false): number {
  const mark = marks[text.charCodeAt(at)]

  if (mark === FullStop) return skipClosers(text, skipRun(text, at + 1))
  if (mark !== Stop) return -1

  const end = skipClosers(text, skipRun(text, at + 1))
  if (end < text.length && !isSpace(text.charCodeAt(end))) return -1

  const next = readNextWord(text, end)
  if (next === undefined) return end
  if (!caseless && isLower(next)) return -1

  const single = text[at] === '.' && text[at - 1] !== '.' && end - at <= 2
  return single && isAbbreviation(text, at, next) ? -1 : end
}

/** Without capitals, as in chats, a lower-case letter after a stop proves nothing. */
export function isCaseless(text: string): boolean {
  const sample = text.slice(0, 4_000)
  const capitals = sample.match(/\p{Lu}/gu)?.length ?? 0
  const small = sample.match(/\p{Ll}/gu)?.length ?? 0
  return small > 0 && capitals < small / 200
}

/** Returns the ends of the sentences, the last at the text's length; empty lines end one too. */
export function sentenceEnds(text: string): number[] {
  const ends: number[] = []
  const caseless = isCaseless(text)
  for (let i = 0; i < text.length; i++) {
    const mark = marks[text.charCodeAt(i)]
    let end = -1
    if (mark === Stop || mark === FullStop) end = sentenceEnd(text, i, caseless)
    else if (mark === Newline && marks[text.charCodeAt(i + 1)] === Newline) end = i + 1
    if (end <= i) continue
    ends.push(end)
    i = end - 1
  }
  if (ends.at(-1) !== text.length) ends.push(text.length)
  return ends
}

/** "?!", "...", "。。" end one sentence, not three. */
function skipRun(text: string, at: number): number {
  let end = at
  while (marks[text.charCodeAt(end)] === Stop || marks[text.charCodeAt(end)] === FullStop) end++
  return end
}

const closers = new Set(')]}"\'”’»›）］｝」』】〉》〗〕'.split('').map((c) => c.charCodeAt(0)))

function skipClosers(text: string, at: number): number {
  let end = at
  while (closers.has(text.charCodeAt(end))) end++
  return end
}

/** Returns the first letter or digit within 12 characters; undefined at a line's end. */
function readNextWord(text: string, at: number): string | undefined {
  for (let i = at; i < text.length && i < at + 12; i++) {
    const mark = marks[text.charCodeAt(i)]
    if (mark === Newline) return undefined
    const c = text[i] as string
    if (mark === Other && !openers.has(c)) return c
  }
  return undefined
}

const openers = new Set('([{"\'“‘«‹¿¡„‚*_'.split(''))

function isLower(c: string): boolean {
  if (c >= 'a' && c <= 'z') return true
  if (c <= '~') return false
  return c !== c.toUpperCase() && c === c.toLowerCase()
}

function isAbbreviation(text: string, dot: number, next: string): boolean {
  let start = dot
  while (start > 0 && dot - start < 16) {
    const code = text.charCodeAt(start - 1)
    if (marks[code] !== Other && code !== 46) break
    start--
  }
  const word = text.slice(start, dot).replace(/^[([{"'“‘«„]+/, '')
  if (word === '') return false
  if (/^\d{1,2}$/.test(word)) return true // "am 3. Oktober", "2. Set up"; a year ends a sentence
  if (/^\p{Lu}$/u.test(word)) return true // "J. Smith"
  if (/^\p{L}{1,3}(\.\p{L}{1,4})+$/u.test(word)) return true // "e.g", "U.S", "z.B"
  if (/^nos?$/i.test(word)) return next >= '0' && next <= '9' // "No. 5", but "He said no. She left."
  return abbreviations.has(word.toLowerCase())
}

const abbreviations = new Set(
  `mr mrs ms dr prof sr jr st mt vs etc approx ca cf al fig figs eq eqs vol vols pp ch sec art ed eds gen col capt lt sgt
  gov sen rep rev hon inc ltd co corp dept est jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
  ave blvd rd al ibid op cit resp min max incl excl
  bzw usw ggf vgl evtl nr str abs bspw bzgl dgl einschl etw geb gest hrsg inkl jh jhd mio mrd tsd sog tel u.a z zzgl zb ing dipl frl hr
  sra srta ud uds pág págs núm art cap aprox ej pcia avda excmo
  mme mlle mm me env chap éd p.ex av boul
  sig sigg sigra dott ecc pag es
  exmo sra dra núm
  bijv blz enz nl dhr mevr mw drs
  np tzn itd itp m.in ul prof mgr inż ks wg
  т.е т.д т.п др пр см рис стр гл ул им тыс млн млрд руб коп акад проф г гг в вв
  tj tzv atd apod např č
  bl.a t.ex osv m.fl kl ca dvs f.eks mv`.split(/\s+/),
)

function buildMarkTable(): Uint8Array {
  const table = new Uint8Array(65536)
  const set = (characters: string, mark: Mark) => {
    for (const c of characters) table[c.charCodeAt(0)] = mark
  }
  set('\n\r\u2028\u2029\u0085', Newline)
  set(
    ' \t\f\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\ufeff',
    Space,
  )
  set('.!?…‽⁇⁈⁉', Stop)
  // CJK, Arabic and Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese, Tibetan
  set('。！？｡．؟۔।॥։።፧។၊။།༎', FullStop)
  set(',;:', Comma)
  set('、，；：､،؛፣', FullComma)
  return table
}
