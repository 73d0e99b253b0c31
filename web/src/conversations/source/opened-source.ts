import type { Message } from '../api.ts'
import { type Cited, resolveMarks } from '../citations.ts'
import { readText } from '../live/turns.ts'

/** One citation of an answer, with its place in the address. */
export type CitedPlace = Cited & { place: string }
/** The open citation, and the ones of the same answer around it. */
export type OpenedSource = { answerId: string; all: CitedPlace[]; at: number }

/** Returns what an address `?source=ANSWER.PLACE` opens; null when it is not in the conversation. */
export function findOpenedSource(
  messages: Message[],
  address: string | undefined,
): OpenedSource | null {
  const [answerId = '', place = ''] = address?.split('.') ?? []
  const answer = messages.find(({ id }) => id === answerId)
  if (answer === undefined) return null
  const found = /^s(\d+)$/.exec(place)
  if (found) {
    const number = Number(found[1])
    const source = answer.sources[number - 1]
    return source ? { answerId, all: [{ number, source, quote: null, place }], at: 0 } : null
  }
  const cited = resolveMarks(readText(answer), answer.sources, answer.citations)
  const all = cited.flatMap((one, ordinal) => (one ? { ...one, place: String(ordinal) } : []))
  const at = all.findIndex((one) => one.place === place)
  return at < 0 ? null : { answerId, all, at }
}
