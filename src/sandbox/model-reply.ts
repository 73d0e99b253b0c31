/**
 * Builds the replies of the sandbox's models for every dialect. A model calls the named tool, or
 * the first one, fills a schema, and answers other requests with quotations. After a tool's result
 * it answers with text, because otherwise an agent's loop would never end.
 */
import { randomBytes } from 'node:crypto'
import {
  answer,
  findQuestion,
  findSearch,
  isGreeting,
  type Message,
  SIGNATURE,
  tokens,
} from './extract.ts'
import { buildSample, pickRequired } from './sample.ts'

export type Wish = {
  messages: Message[]
  tools: { name: string; schema: unknown }[]
  choice: 'auto' | 'none' | 'required' | { name: string }
  /** Names of the tools called since the user's last message. */
  called: string[]
  /** The last tool's result; null when the user's message is the last one. */
  result: string | null
  /** The schema that the answer must match; `{}` for any object. */
  schema: unknown | null
  limit: number
  stop: string[]
}

export type ModelReply = {
  pieces: string[]
  call: { id: string; name: string; args: Record<string, unknown> } | null
  finish: 'stop' | 'length' | 'tool_calls' | 'stop_sequence'
  /** The stop sequence that ended the text. */
  stoppedAt: string | null
  promptTokens: number
  completionTokens: number
}

export function writeReply(wish: Wish): ModelReply {
  const promptTokens =
    wish.messages.reduce((sum, { content }) => sum + tokens(content).length, 0) +
    (wish.tools.length === 0 ? 0 : tokens(JSON.stringify(wish.tools)).length)
  const tool = chooseTool(wish)
  if (tool !== null) {
    const words = readWords(wish)
    const question = isReader(wish.tools) ? findSearch(wish.messages) : words.question
    const made = buildSample(pickRequired(tool.schema), { ...words, question })
    const args =
      typeof made === 'object' && made !== null && !Array.isArray(made) ? { ...made } : {}
    const call = { id: randomBytes(12).toString('hex'), name: tool.name, args }
    const completionTokens = tokens(JSON.stringify(args)).length + tokens(tool.name).length
    return {
      pieces: [],
      call,
      finish: 'tool_calls',
      stoppedAt: null,
      promptTokens,
      completionTokens,
    }
  }
  const { text, stoppedAt } = stopped(writeText(wish), wish.stop)
  const all = tokens(text)
  const pieces = all.slice(0, wish.limit)
  const finish =
    pieces.length < all.length ? 'length' : stoppedAt === null ? 'stop' : 'stop_sequence'
  return { pieces, call: null, finish, stoppedAt, promptTokens, completionTokens: pieces.length }
}

/** Returns the tool to call; null for a text reply. */
function chooseTool({ messages, tools, choice, called, result }: Wish) {
  if (choice === 'none') return null
  if (choice === 'auto' && isReader(tools)) return chooseReadingTool(messages, tools, result)
  const isDone = (name: string) => called.includes(name)
  if (typeof choice === 'object')
    return tools.find(({ name }) => name === choice.name && !isDone(name)) ?? null
  const offered = tools.filter(({ name }) => !isDone(name))
  if (result === null) return findNamedTool(messages, offered) ?? offered[0] ?? null
  return choice === 'required' ? (tools.find(({ name }) => !isDone(name)) ?? null) : null
}

/** Names of the tools that read a user's documents. */
const READING = ['search', 'list_documents', 'fetch']

function isReader(tools: Wish['tools']): boolean {
  return tools.length > 0 && tools.every(({ name }) => READING.includes(name))
}

/** Searches for the question, or lists the documents for a question about all of them. */
function chooseReadingTool(messages: Message[], tools: Wish['tools'], result: string | null) {
  const question = findQuestion(messages)
  if (result !== null || isGreeting(question)) return null
  const wanted = ABOUT_ALL.test(question) ? 'list_documents' : 'search'
  return tools.find(({ name }) => name === wanted) ?? tools[0] ?? null
}

const ABOUT_ALL =
  /^(?=.{0,120}$)(?=.*\b(?:documents?|files?|library|dokumente?|dateien)\b)(?=.*\b(?:which|what|how many|list|show|all|my|summari[sz]e|overview|welche|alle|meine)\b).*$/is

/**
 * Returns the tool named last in "Say hi using bash", because an agent's own text precedes its
 * user's words.
 */
function findNamedTool(
  messages: Message[],
  offered: Wish['tools'],
): Wish['tools'][number] | undefined {
  const request = findQuestion(messages).slice(-ASKED_LENGTH)
  const words = request.toLowerCase().split(/[^\w-]+/)
  const places = offered.map(({ name }) => words.lastIndexOf(name.toLowerCase()))
  const last = Math.max(-1, ...places)
  return last === -1 ? undefined : offered[places.indexOf(last)]
}

const ASKED_LENGTH = 300

function writeText(wish: Wish): string {
  if (wish.schema === null) return spoken(wish)
  const made = buildSample(wish.schema, readWords(wish))
  const isObject = typeof made === 'object' && made !== null
  return JSON.stringify(isObject && Object.keys(made).length > 0 ? made : { answer: spoken(wish) })
}

function spoken({ messages, result, called }: Wish): string {
  if (result === null) return answer(messages)
  if (READING.includes(called.at(-1) ?? '')) return quoteResult(messages, result)
  const short = result.length > 600 ? `${result.slice(0, 597)}…` : result
  return `The tool ${called.at(-1) ?? ''} answered: ${short}\n\n${SIGNATURE}`
}

/** Instructions are no source of the answer. */
function quoteResult(messages: Message[], result: string): string {
  if (!/^\[\d{1,3}\]/m.test(result)) return `${NOTHING_FOUND}\n\n${SIGNATURE}`
  return answer(messages.filter(({ role }) => role !== 'system'))
}

const NOTHING_FOUND = 'I could not find anything about this in your documents.'

function readWords(wish: Wish) {
  const question = findQuestion(wish.messages)
  return { question: question.slice(0, 500), answer: spoken(wish) }
}

function stopped(text: string, stop: string[]): { text: string; stoppedAt: string | null } {
  let end = text.length
  let stoppedAt: string | null = null
  for (const sequence of stop) {
    const at = sequence === '' ? -1 : text.indexOf(sequence)
    if (at === -1 || at >= end) continue
    end = at
    stoppedAt = sequence
  }
  return { text: text.slice(0, end), stoppedAt }
}
