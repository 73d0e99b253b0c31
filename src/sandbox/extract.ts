/**
 * The answers of the sandbox's model: quotations of the sentences in its context that best match
 * the question. It invents nothing.
 */

export type Message = { role: string; content: string }

export const SIGNATURE = '— Sandbox model: I quote, I do not reason.'
const QUOTED_MAX = 3
const BEGUN_MAX = 12

type Part = { mark: string; text: string; name?: string }
type Sentence = { text: string; mark: string; name: string; words: Set<string>; place: number }

export function answer(given: readonly Message[]): string {
  // Collapse white space, because the patterns below are quadratic in its length.
  const messages = given.map(({ role, content }) => ({ role, content: tidy(content) }))
  const lastMessage = findQuestion(messages)
  const sources = readSources(messages)
  const overview = describeDocuments(messages)
  if (overview !== null) return `${overview}\n\n${SIGNATURE}`
  // The question is separated from its context when one message contains both, so that it does not
  // quote itself.
  const question = readQuestion(lastMessage)
  const quoted = relevant(question, sources)
  if (quoted.length > 0)
    return `${quoted.map(({ text, mark }) => (mark ? `${text} ${mark}` : text)).join(' ')}\n\n${SIGNATURE}`
  // Numbered sources come from a retrieval step; the first is the best match.
  const first = beginnings(sources)
  if (first.length > 0) {
    const says = first.length === 1 ? 'The source says' : 'The sources begin'
    const quotes = first.map(
      ({ text, mark, name }) => `- ${name === '' ? '' : `${name}: `}${text} ${mark}`,
    )
    return `No sentence of the sources shares a word with the question. ${says}:\n\n${quotes.join('\n')}\n\n${SIGNATURE}`
  }
  return `${smallTalk(question, sources.length > 0)}\n\n${SIGNATURE}`
}

/** Returns the last message of the user; before "Continue", the one before it. */
export function findQuestion(messages: readonly Message[]): string {
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  return questions.findLast((content) => !CONTINUE.test(content)) ?? questions.at(-1) ?? ''
}

/** Returns the text to search for: a follow-up such as "Is it paid?" needs the question before it. */
export function findSearch(messages: readonly Message[]): string {
  const question = findQuestion(messages)
  if (!FOLLOW_UP.test(question)) return question
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const before = questions
    .slice(0, questions.lastIndexOf(question))
    .findLast((one) => !CONTINUE.test(one))
  return before === undefined ? question : `${before} ${question}`
}

const FOLLOW_UP =
  /^(?=.{1,120}$)(?:\s*(?:and|or|but|what about|how about|why|und|oder)\b|.*\b(?:it|its|they|them|their|that|this|those|these|he|she)\b)/is

const CONTINUE = /^\s*(?:please\s+)?(?:continue|go on|carry on|weiter|fahre fort)\b[^\n]{0,20}$/i

/** Returns the number and the beginnings of all documents, for questions about all documents. */
function describeDocuments(messages: readonly Message[]): string | null {
  const listing = messages.flatMap(({ role, content }) => {
    const pattern = role === 'user' ? OVERVIEW_REQUEST : role === 'tool' ? LISTING : null
    const count = pattern?.exec(content)?.[1]
    return count === undefined ? [] : [{ count, content }]
  })[0]
  if (listing === undefined) return null
  const parts = passages(listing.content, true)
  const begun = new Map(beginnings(sentences(parts)).map((sentence) => [sentence.mark, sentence]))
  const lines = parts.slice(0, BEGUN_MAX).map(({ mark, name = '' }) => {
    const first = begun.get(mark)
    return `- ${name === '' ? 'A text without a name' : name}${first ? `: ${first.text} ${mark}` : ''}`
  })
  return `You have ${listing.count}${lines.length < parts.length ? '. The newest' : ''}:\n\n${lines.join('\n')}`
}

const OVERVIEW_REQUEST =
  /^(?:Today is [\d-]+\.\s+)?The question is about the documents as a whole: (one document|\d+ documents), newest first\. The sources are their beginnings/

/** The result of `list_documents`. */
const LISTING = /^There (?:is|are) (one document|\d+ documents), newest first\./

function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
}

/** Returns the first sentence of each numbered source. */
function beginnings(sources: readonly Sentence[]): Sentence[] {
  const byMark = new Map<string, Sentence>()
  for (const sentence of sources) {
    if (sentence.mark !== '' && !byMark.has(sentence.mark)) byMark.set(sentence.mark, sentence)
  }
  return [...byMark.values()].slice(0, BEGUN_MAX)
}

/**
 * Returns the context: numbered passages ([1] …) of any message, otherwise the text of the system
 * message and earlier turns.
 */
function readSources(messages: readonly Message[]): Sentence[] {
  const marked = messages
    .filter(({ role }) => role !== 'assistant')
    .flatMap(({ role, content }) => passages(content, role !== 'system'))
  if (marked.length > 0) return sentences(marked)
  const last = messages.findLastIndex((message) => message.role === 'user')
  const plain = messages.flatMap(({ role, content }, index) => {
    if (role === 'assistant' || index < last - 6) return []
    if (index === last) return [{ mark: '', text: readContext(content) }]
    return role === 'system'
      ? [{ mark: '', text: readContext(content) }]
      : [{ mark: '', text: content }]
  })
  return sentences(plain)
}

/**
 * Finds passages: `[1] text`, `[2] (a.pdf)` and the text below. A passage runs from a mark at a
 * line's start to the next one, or to the end of the sources or the question in a user's message.
 */
function passages(content: string, hasQuestion: boolean): Part[] {
  const marks = [...content.matchAll(/(?:^|\n)[ \t]*\[(\d{1,3})\][ \t:]*/g)]
  return marks.map((match, index) => {
    const from = match.index + match[0].length
    const until =
      marks[index + 1]?.index ?? (hasQuestion ? endOfPassages(content, from) : content.length)
    const text = unquoted(content.slice(from, until))
    const origin = ORIGIN.exec(text)?.[0] ?? ''
    return { mark: `[${match[1]}]`, text: text.slice(origin.length), name: readSourceName(origin) }
  })
}

/** Removes the `>` of lines quoted as in an email. */
function unquoted(text: string): string {
  return text.replace(/^> ?/gm, '')
}

function endOfPassages(content: string, from: number): number {
  const label =
    /\n\s*(?:(?:question|user question|frage|query|instructions?|answer)\s*:|<\/sources\b)/i.exec(
      content.slice(from),
    )
  return label ? from + label.index : content.length
}

const LABEL = /(?:^|\n)\s*(?:question|user question|frage|query)\s*:\s*/i

function readQuestion(content: string): string {
  const label = LABEL.exec(content)
  if (label) return content.slice(label.index + label[0].length).split('\n\n')[0] ?? ''
  const paragraphs = content.trim().split(/\n{2,}/)
  return content.length > 600
    ? (paragraphs.findLast((one) => one.includes('?')) ?? paragraphs.at(-1) ?? '')
    : content
}

/** Returns the part of a message that is neither instruction nor question. */
function readContext(content: string): string {
  const context = /(?:^|\n)\s*(?:context|sources?|documents?|text)\s*:\s*\n?/i.exec(content)
  if (context)
    return content.slice(
      context.index + context[0].length,
      endOfPassages(content, context.index + context[0].length),
    )
  const questionText = readQuestion(content)
  return content.length > 600 ? content.replace(questionText, '') : ''
}

/** Matches the source in brackets before a text. */
const ORIGIN = /^\s*\((?:(?:source|from)\b[^)]*\)|[^()\n]{1,220}\)[ \t]*\n)/i

/** "(lease.pdf, page 3, added 2026-11-23)". */
function readSourceName(origin: string): string {
  const inside = origin
    .trim()
    .slice(1, -1)
    .replace(/(?:^|, )added [\d-]+$/, '')
  return (inside.replace(/^(?:source|from)\b:?\s*/i, '').split(',')[0] ?? '').trim()
}

/** Headings, list items and table rows are separate sentences; other lines were wrapped. */
function splitLines(text: string): string[] {
  const lines: string[] = []
  let isWrapped = false
  for (const sourceLine of text.split('\n')) {
    const line = sourceLine.replace(/\s+/g, ' ').trim()
    if (isWrapped && line !== '' && !/^(?:#{1,6} |[-*|]|\d{1,3}[.)] )/.test(line))
      lines[lines.length - 1] += ` ${line}`
    else if (line !== '') lines.push(line)
    isWrapped = line !== '' && !/^(?:#{1,6} |\|)/.test(line)
  }
  return lines
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .map((line) => line.replace(/^(?:#{1,6}|[-*]) /, ''))
}

/** Shorter sentences are headings and fragments. Scripts without spaces need fewer characters. */
function isShort(sentence: string): boolean {
  return sentence.length < (UNSPACED.test(sentence) ? 6 : 20) && !sentence.startsWith('|')
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

function sentences(parts: readonly Part[]): Sentence[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
  const found = new Map<string, Sentence>()
  for (const { mark, text, name = '' } of parts) {
    const segments = splitLines(text.replace(ORIGIN, '')).flatMap((line) =>
      line.startsWith('|')
        ? [line]
        : [...segmenter.segment(line)].map(({ segment }) => segment.trim()),
    )
    for (const [index, sentence] of segments.entries()) {
      if (isShort(sentence) || sentence.length > 600) continue
      // A chunk may begin and end in the middle of a sentence. Such fragments are not quoted if
      // there are whole sentences.
      const isCut =
        segments.length > 2 &&
        !sentence.startsWith('|') &&
        ((index === 0 && /^\p{Ll}/u.test(sentence)) ||
          (index === segments.length - 1 && !/[.!?…:;)"'”’。！？]$/.test(sentence)))
      // Neighbouring chunks overlap: quote the common text once.
      const key = sentence.toLowerCase()
      if (!isCut && !found.has(key))
        found.set(key, {
          text: sentence,
          mark,
          name,
          words: listWords(sentence),
          place: found.size,
        })
    }
  }
  return [...found.values()]
}

/**
 * Rare words weigh more (inverse document frequency); the best sentences are returned in the order
 * of the text.
 */
function relevant(question: string, from: readonly Sentence[]): Sentence[] {
  const questionWords = listWords(question)
  const weight = new Map<string, number>()
  for (const word of questionWords) {
    const having = from.filter((sentence) => sentence.words.has(word)).length
    if (having > 0) weight.set(word, Math.log(1 + from.length / having))
  }
  const scored = from
    .map((sentence) => {
      let score = 0
      for (const [word, value] of weight) if (sentence.words.has(word)) score += value
      return { sentence, score: score / Math.sqrt(6 + sentence.words.size) }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const best = scored[0]?.score ?? 0
  return scored
    .filter(({ score }) => score >= best * 0.55)
    .slice(0, QUOTED_MAX)
    .map(({ sentence }) => sentence)
    .sort((a, b) => a.place - b.place)
}

const STOP = new Set(
  'the and for are was were has have had with that this from what which who how when where why does did can could would should not you your its their they them there about into than then also will been being but our out over under between please tell give explain describe der die das und ist sind wie was wer den dem des ein eine für von mit'.split(
    ' ',
  ),
)

function listWords(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const spaced = words
    .filter((word) => word.length > 2 && !STOP.has(word) && !UNSPACED.test(word))
    .map(stem)
  return new Set([...spaced, ...words.filter((word) => UNSPACED.test(word)).flatMap(pairs)])
}

function pairs(word: string): string[] {
  const characters = [...word]
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, i) => characters[i] + character)
}

/**
 * Reduces plurals and verb forms to one form. A wrong form of a rare word can lose a quotation but
 * never adds a false one.
 */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|edly|ed|ies|es|s|ly)$/, '') : word
}

function smallTalk(question: string, hasSources: boolean): string {
  const text = question.trim().replace(/\s+/g, ' ')
  if (hasSources) return 'Nothing in the sources I was given speaks of that.'
  if (text === '') return 'Hello. Ask me something, or give me a text to quote from.'
  if (isGreeting(text)) {
    return 'Hello! Give me a text with your question, and I will quote the sentences that answer it.'
  }
  const short = text.length > 160 ? `${text.slice(0, 157)}…` : text
  return `You asked: “${short}” I hold no knowledge of my own, so I cannot answer that. Add a text to the conversation, or ask about your documents, and I will quote what fits. Set the key of a vendor, as OPENAI_API_KEY, to talk to a model that reasons.`
}

export function isGreeting(text: string): boolean {
  return /^\s*(hi|hello|hey|good (morning|evening|day)|hallo|moin|thanks|thank you)\b/i.test(text)
}

/**
 * Splits text into tokens: a word with the space before it; long words and scripts without spaces
 * in runs of 4 characters. The sandbox counts the tokens of prompts and answers with this
 * function.
 */
export function tokens(text: string): string[] {
  return (
    text.match(/\s*[\p{L}\p{M}]{1,12}|\s*\p{N}{1,3}|\s*[^\s\p{L}\p{N}]{1,4}|\s+|[\s\S]/gu) ?? []
  )
}
