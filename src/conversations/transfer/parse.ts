// Parses a conversation one message at a time: a long one has more values than one JSON text may
// have, and other requests must run in between.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { BRACE, BRACKET, countJsonValues, JsonTooMany } from '#platform/json.ts'
import { type ConversationFile, isMember } from './imported.ts'
import { listElements, listMembers, type Slice } from './split.ts'

export class TooManyMessages extends Error {}

/** Of one conversation: 10,000 messages with sources have about 600,000. */
const VALUES_MAX = 1_000_000
const BYTES_AT_ONCE = 500_000

/** @throws Error for anything but an object; JsonTooMany, TooManyMessages */
export async function parseConversation(
  bytes: Buffer,
  { from }: Slice,
  messagesMax: number,
): Promise<ConversationFile> {
  const parser = new SliceParser(bytes, messagesMax)
  const file: ConversationFile = {}
  for (const { name, ...slice } of listMembers(bytes, from))
    if (isMember(name)) file[name] = await parser.parseMember(name, slice)
  return file
}

class SliceParser {
  readonly #bytes: Buffer
  readonly #messagesMax: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #parsedBytes = 0
  #values = 0

  constructor(bytes: Buffer, messagesMax: number) {
    this.#bytes = bytes
    this.#messagesMax = messagesMax
  }

  /** ChatGPT has a `mapping` of messages, our export a list. */
  async parseMember(name: string, { from, to }: Slice): Promise<unknown> {
    const first = this.#bytes[from]
    if (name === 'messages' && first === BRACKET) return await this.#parseList(from)
    if (name === 'mapping' && first === BRACE) return await this.#parseMapping(from)
    return await this.#parse({ from, to })
  }

  async #parseList(from: number): Promise<unknown[]> {
    const slices = listElements(this.#bytes, from, this.#messagesMax)
    if (slices === null) throw new TooManyMessages()
    const values: unknown[] = []
    for (const slice of slices) values.push(await this.#parse(slice))
    return values
  }

  async #parseMapping(from: number): Promise<Record<string, unknown>> {
    const members: [string, unknown][] = []
    for (const member of listMembers(this.#bytes, from)) {
      // Messages to tools and from them are counted, too, but not stored.
      if (members.length >= this.#messagesMax * 5) throw new TooManyMessages()
      members.push([member.name, await this.#parse(member)])
    }
    return Object.fromEntries(members)
  }

  async #parse({ from, to }: Slice): Promise<unknown> {
    this.#parsedBytes += to - from
    if (this.#parsedBytes > BYTES_AT_ONCE) {
      this.#parsedBytes = 0
      await yieldToEventLoop()
    }
    const text = this.#decoder.decode(this.#bytes.subarray(from, to))
    this.#values += countJsonValues(text)
    if (this.#values > VALUES_MAX) throw new JsonTooMany()
    return JSON.parse(text)
  }
}
