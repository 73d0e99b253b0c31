// Decides by words whether a passage supports a statement that cites it: enough of its words, all
// its numbers and its names. It detects foreign content, not negation: "not" has no weight. Across
// languages only numbers are compared.
import { byLanguage } from '#embeddings/stop-words.ts'
import { eachTerm, foldAccents, isStopWord, isWord, stemWord } from '../search/words/terms.ts'

export type ReadWords = {
  /** Terms, roots, and beginnings of words. */
  terms: Set<string>
  numbers: Set<string>
}

export type ReadText = ReadWords & {
  /** Null: too few words to detect it. */
  language: string | null
}

/** Share of a statement's words that its passages must have: `npm run bench -- citations`. */
const SHARE_MIN = 0.5
/** Lower for scripts without spaces, whose character pairs cross word boundaries. */
const GROUPS_SHARE_MIN = 0.4
/** A passage cited together with others may support only a part of the statement. */
const PART_MIN = 0.2
/** The part of a word that must be the beginning of the other word. */
const BEGINNING = { share: 0.65, lettersMin: 4 }
/** German capitalises all nouns, so capitals do not identify names there. */
const NOUN_CAPITALISING_LANGUAGE = 'de'
/** Capitalised English words that are not names. */
const NOT_NAMES = new Set(
  [
    ...Array.from({ length: 12 }, (_, month) =>
      formatName({ month: 'long' }, new Date(2024, month, 1)),
    ),
    ...Array.from({ length: 7 }, (_, day) =>
      formatName({ weekday: 'long' }, new Date(2024, 0, day + 1)),
    ),
  ].map((name) => name.toLowerCase()),
)

export function readText(text: string): ReadText {
  return { ...readWords(text), language: detectLanguage(text) }
}

export function readWords(text: string): ReadWords {
  const terms = new Set<string>()
  eachTerm(text, (term) => {
    terms.add(term)
    if (!isWord(term)) return
    const word = foldAccents(term)
    terms.add(`=${stemWord(word)}`)
    for (let end = BEGINNING.lettersMin; end <= word.length; end++)
      terms.add(`${word.slice(0, end)}*`)
  })
  return { terms, numbers: readNumbers(text, true) }
}

/** Judges each passage, alone or with the others. Names in `known` need no support. */
export function checkSupport(claim: Claim, cited: readonly ReadText[], known: ReadText): boolean[] {
  const alone = cited.map((passage) => judgeClaim(claim, [passage], known))
  const together = cited.length > 1 && judgeClaim(claim, cited, known).holds
  const partMin = alone.some(({ holds }) => holds) ? SHARE_MIN : PART_MIN
  return alone.map(({ holds, share }) => holds || (together && share >= partMin))
}

export type Claim = {
  words: { term: string; isName: boolean }[]
  numbers: Set<string>
  text: string
}

export function readClaim(statement: string): Claim {
  // The answer itself numbers its list items.
  const text = statement.replace(/^\s*(?:[-*+•>]\s*|\d{1,3}[.)]\s+)+/u, '')
  const names = findNames(text)
  const words = new Map<string, boolean>()
  eachTerm(text, (term) => {
    if (isWord(term) && (isStopWord(term) || /\p{N}/u.test(term))) return
    words.set(term, names.has(term))
  })
  const list = [...words].map(([term, isName]) => ({ term, isName }))
  return { words: list, numbers: readNumbers(text, false), text }
}

function judgeClaim(
  { words, numbers, text }: Claim,
  passages: readonly ReadText[],
  known: ReadText,
): { holds: boolean; share: number } {
  const hasAllNumbers = [...numbers].every((number) =>
    passages.some((passage) => passage.numbers.has(number)),
  )
  const language = detectLanguage(text)
  const isOther = passages.every((passage) => isOtherLanguage(language, words, passage))
  if (isOther) return { holds: hasAllNumbers, share: hasAllNumbers ? 1 : 0 }

  const capitalisesNouns = passages.some(
    (passage) => passage.language === NOUN_CAPITALISING_LANGUAGE,
  )
  let found = 0
  let isNameMissing = false
  for (const { term, isName } of words) {
    const isFound = passages.some((passage) => hasTerm(passage, term))
    if (isFound) found++
    else if (isName && !hasTerm(known, term) && !capitalisesNouns) isNameMissing = true
  }
  const share = words.length === 0 ? 1 : found / words.length
  const shareMin = words.every(({ term }) => isWord(term)) ? SHARE_MIN : GROUPS_SHARE_MIN
  return { holds: hasAllNumbers && !isNameMissing && share >= shareMin, share }
}

export function hasTerm({ terms }: ReadWords, term: string): boolean {
  if (terms.has(term)) return true
  if (!isWord(term)) return false
  const word = foldAccents(term)
  if (terms.has(`=${stemWord(word)}`)) return true
  const { share, lettersMin } = BEGINNING
  return (
    word.length > lettersMin &&
    terms.has(`${word.slice(0, Math.max(lettersMin, Math.ceil(word.length * share)))}*`)
  )
}

/** Returns the terms of the words capitalised within a sentence. */
function findNames(text: string): Set<string> {
  const names = new Set<string>()
  for (const match of text.matchAll(
    /(?<=[\p{L}\p{N},;]["“”'’)»]?[ \u00a0-]["“'(«]?)\p{Lu}[\p{L}\p{M}]+/gu,
  )) {
    eachTerm(match[0], (term) => {
      if (!NOT_NAMES.has(term) && !isStopWord(term)) names.add(term)
    })
  }
  return names
}

const LANGUAGES = Object.entries(byLanguage)
  .filter(([language]) => language !== 'accented')
  .map(([language, words]) => ({ language, words: new Set(words.split(/\s+/)) }))
const LANGUAGE_WORDS_MIN = 3

/** Detects the language by its function words, which every sentence contains. */
function detectLanguage(text: string): string | null {
  const counts = new Map<string, number>()
  eachTerm(text.slice(0, 4_000), (term) => {
    const foldedTerm = foldAccents(term)
    for (const { language, words } of LANGUAGES) {
      if (words.has(term) || words.has(foldedTerm))
        counts.set(language, (counts.get(language) ?? 0) + 1)
    }
  })
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
  if (first === undefined || first[1] < LANGUAGE_WORDS_MIN || first[1] <= (second?.[1] ?? 0))
    return null
  return first[0]
}

/** Compares languages or, if one is unknown, scripts. */
function isOtherLanguage(
  language: string | null,
  words: Claim['words'],
  passage: ReadText,
): boolean {
  if (language !== null && passage.language !== null) return language !== passage.language
  if (words.length === 0) return false
  const claimScripts = findScripts(words.map(({ term }) => term))
  const passageScripts = findScripts([...passage.terms].slice(0, 400))
  return claimScripts.isDisjointFrom(passageScripts)
}

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Arabic',
  'Hebrew',
  'Devanagari',
  'Thai',
  'Hangul',
  'Han',
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'u') }))

function findScripts(terms: string[]): Set<string> {
  const text = terms.join(' ')
  return new Set(SCRIPTS.filter(({ letter }) => letter.test(text)).map(({ name }) => name))
}

/** 1,250 = 1.250 = 1250, 2,5 = 2.5, 03 = 3. `isLenient` adds parts of dates, and words. */
function readNumbers(text: string, isLenient: boolean): Set<string> {
  const numbers = new Set<string>()
  for (const [written] of text
    .normalize('NFKC')
    .matchAll(/\p{Nd}+(?:[.,'’ \u00a0\u202f:/-]\p{Nd}+)*/gu)) {
    const digits = toAsciiDigits(written)
    const groups = digits.split(/\D/)
    const marks = [...digits.replace(/\d/g, '')]
    const lastMark = marks.at(-1)
    const isDecimal =
      (lastMark === '.' || lastMark === ',') &&
      marks.indexOf(lastMark) === marks.length - 1 &&
      groups.at(-1)?.length !== 3
    const whole = isDecimal ? groups.slice(0, -1) : groups
    const isGrouped =
      whole.slice(1).every(({ length }) => length === 3) &&
      !marks.some((mark) => mark === ':' || mark === '/' || mark === '-')
    if (isGrouped)
      numbers.add(
        `${normalizeNumber(whole.join(''))}${isDecimal ? trimDecimals(groups.at(-1)) : ''}`,
      )
    else for (const group of groups) numbers.add(normalizeNumber(group))
    if (isLenient) for (const group of groups) numbers.add(normalizeNumber(group))
  }
  if (isLenient) {
    eachTerm(text, (term) => {
      const number = NUMBER_WORDS.get(foldAccents(term))
      if (number !== undefined) numbers.add(String(number))
    })
  }
  return numbers
}

function normalizeNumber(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '')
}

function trimDecimals(digits = ''): string {
  const short = digits.replace(/0+$/, '')
  return short === '' ? '' : `.${short}`
}

/** Converts Arabic, Thai and other digits to ASCII. */
function toAsciiDigits(written: string): string {
  return written.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) as number
    if (code <= 57) return digit
    // Each script's ten digits are consecutive, from its zero on.
    let zero = code
    while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
    return String(code - zero)
  })
}

/** Number words from zero up: an answer may use digits for a number that a text spells out. */
const NUMBER_WORDS = new Map(
  [
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty',
    'null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn zwanzig',
    'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte',
    'zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
    'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici',
    'zero um dois tres quatro cinco seis sete oito nove dez onze doze',
    'ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать',
    'không một hai ba bốn năm sáu bảy tám chín mười',
  ].flatMap((words) =>
    words.split(' ').map((word, number): [string, number] => [foldAccents(word), number]),
  ),
)

function formatName(style: Intl.DateTimeFormatOptions, date: Date): string {
  return new Intl.DateTimeFormat('en', style).format(date)
}
