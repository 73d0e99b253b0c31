// Carries a model's reasoning to an OpenAI client and back into the vendor's blocks on the next
// turn, as OpenRouter's `reasoning_details`, which agents store and return:
// https://openrouter.ai/docs. The trap: vendors sign or encrypt reasoning and reject changes, so a
// detail contains its whole block, and is sent back only to the vendor with its format.
import { asObject } from '#platform/json.ts'

export type ReasoningFormat = 'anthropic-claude-v1' | 'google-gemini-v1' | 'openai-responses-v1'

/**
 * `index` is the block's position in the answer; details with the same index are chunks of one
 * block.
 * Only the first chunk has `format` and `id`: OpenAI's Python client concatenates strings of equal
 * index.
 */
export type ReasoningDetail = { format?: ReasoningFormat; index: number; id?: string } & (
  | { type: 'reasoning.text'; text: string; signature?: string }
  | { type: 'reasoning.summary'; summary: string }
  | { type: 'reasoning.encrypted'; data: string }
)

/** Returns the readable text. */
export function joinReasoningText(details: ReasoningDetail[]): string {
  return details
    .map((detail) =>
      detail.type === 'reasoning.text'
        ? detail.text
        : detail.type === 'reasoning.summary'
          ? detail.summary
          : '',
    )
    .filter((text) => text !== '')
    .join('\n\n')
}

/** Returns one format's details; joins parts that a stream delivered apart. */
export function readDetails(value: unknown, format: ReasoningFormat): ReasoningDetail[] {
  if (!Array.isArray(value)) return []
  const details: ReasoningDetail[] = []
  const heads = new Map<number, Head>()
  for (const item of value) {
    const from = asObject(item)
    if (from === null) continue
    const index = typeof from.index === 'number' ? from.index : details.length
    const head = createHead(from, heads.get(index))
    heads.set(index, head)
    // A detail without the beginning of its block would be rejected.
    const detail = head.format === format ? toDetail(from, { ...head, format, index }) : null
    if (detail === null) continue
    const last = details.at(-1)
    if (last === undefined || !isContinuation(last, detail)) {
      details.push(detail)
    } else if (last.type === 'reasoning.text' && detail.type === 'reasoning.text') {
      last.text += detail.text
      if (detail.signature !== undefined) last.signature = detail.signature
    } else if (last.type === 'reasoning.summary' && detail.type === 'reasoning.summary') {
      last.summary += detail.summary
    }
  }
  return details
}

type Head = { format?: unknown; id?: string }

function createHead(from: Record<string, unknown>, before: Head | undefined): Head {
  const id = typeof from.id === 'string' ? from.id : before?.id
  return { format: from.format ?? before?.format, ...(id === undefined ? {} : { id }) }
}

function toDetail(
  from: Record<string, unknown>,
  place: Pick<ReasoningDetail, 'format' | 'index' | 'id'>,
): ReasoningDetail | null {
  if (from.type === 'reasoning.text') {
    const text = typeof from.text === 'string' ? from.text : ''
    return typeof from.signature === 'string'
      ? { type: 'reasoning.text', text, signature: from.signature, ...place }
      : { type: 'reasoning.text', text, ...place }
  }
  if (from.type === 'reasoning.summary' && typeof from.summary === 'string')
    return { type: 'reasoning.summary', summary: from.summary, ...place }
  if (from.type === 'reasoning.encrypted' && typeof from.data === 'string')
    return { type: 'reasoning.encrypted', data: from.data, ...place }
  return null
}

function isContinuation(last: ReasoningDetail, next: ReasoningDetail): boolean {
  if (last.type !== next.type || last.type === 'reasoning.encrypted' || last.index !== next.index)
    return false
  return last.type !== 'reasoning.text' || last.signature === undefined
}

/** Separates the texts of reasoning blocks by empty lines, for clients that read one text. */
export function createBlockSeparator(): (text: string, block: number | string) => string {
  let last: number | string | null = null
  return (text, block) => {
    if (text === '') return text
    const separator = last === null || last === block ? '' : '\n\n'
    last = block
    return separator + text
  }
}

/** Only the first chunk of a block has the format and id. */
export function createDetailHeads(format: ReasoningFormat) {
  const startedBlocks = new Set<number>()
  return (index: number, id?: string): Pick<ReasoningDetail, 'format' | 'index' | 'id'> => {
    if (startedBlocks.has(index)) return { index }
    startedBlocks.add(index)
    return id === undefined ? { format, index } : { format, id, index }
  }
}

/** Puts reasoning back at its positions; other blocks keep their order around it. */
export function interleave<T>(placed: { index: number; item: T }[], others: T[]): T[] {
  const items: T[] = []
  let next = 0
  for (const { index, item } of placed) {
    while (items.length < index && next < others.length) items.push(others[next++] as T)
    items.push(item)
  }
  return next === 0 && items.length === 0 ? others : items.concat(others.slice(next))
}
