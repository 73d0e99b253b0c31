/**
 * Parses a conversation of an import one message at a time. A long conversation has more values than
 * one JSON text may have, and other requests must run in between.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { parseJson } from '#platform/json.ts'
import { listElements, listMembers, type Slice } from './split.ts'

export class TooManyMessages extends Error {}

const BRACE = 0x7b
const BRACKET = 0x5b
const BYTES_AT_ONCE = 500_000

/** @throws Error for anything but an object; JsonTooMany, TooManyMessages */
export async function parseConversation(
  bytes: Buffer,
  { from }: Slice,
  messagesMax: number,
): Promise<Record<string, unknown>> {
  const parser = new SliceParser(bytes, messagesMax)
  const members: [string, unknown][] = []
  for (const member of listMembers(bytes, from))
    members.push([member.name, await parser.parseMember(member)])
  return Object.fromEntries(members)
}

class SliceParser {
  readonly #bytes: Buffer
  readonly #messagesMax: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #parsedBytes = 0

  constructor(bytes: Buffer, messagesMax: number) {
    this.#bytes = bytes
    this.#messagesMax = messagesMax
  }

  /** ChatGPT has a `mapping` of messages, our export a list. */
  async parseMember({ name, from, to }: Slice & { name: string }): Promise<unknown> {
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
    return parseJson(this.#decoder.decode(this.#bytes.subarray(from, to)))
  }
}
