// The endpoints of a vendor (an address and a key each), in the order in which a call tries them:
// by weight and conversation, without state. A conversation stays at one healthy endpoint, since
// vendors cache prompts per key. The trap: a key is secret, so logs have only the endpoint's name.
import type { Breaker, ModelBreakers } from './breaker.ts'

/** The part of an endpoint that `attempt` needs. */
export type EndpointHealth = { name: string; weight: number; breaker: Breaker }

/** Returns an unsigned 32-bit integer, the same for all calls of a conversation. */
export type Affinity = () => number

/** Chooses at random, for calls without a known conversation. */
export const chooseRandomly: Affinity = () => Math.floor(Math.random() * 2 ** 32)

/**
 * Identifies a conversation by its user, key and first user message; earlier text, such as a system
 * prompt with a date, may change.
 * `turns` are messages in the format of any API.
 */
export function createAffinity(
  caller: { userId: string; keyId: string | null },
  turns: unknown,
): Affinity {
  return () =>
    hashText(
      hashText(hashText(FNV_OFFSET, caller.userId), caller.keyId ?? ''),
      readFirstText(turns),
    )
}

type Turn = { role?: unknown; content?: unknown } | null

function readFirstText(turns: unknown): string {
  if (typeof turns === 'string') return turns
  const first = Array.isArray(turns)
    ? (turns as Turn[]).find((turn) => turn?.role === 'user')
    : null
  if (typeof first?.content === 'string') return first.content
  const parts = Array.isArray(first?.content)
    ? (first.content as ({ text?: unknown } | null)[])
    : []
  const text = parts.find((part) => typeof part?.text === 'string')?.text
  return typeof text === 'string' ? text : ''
}

/**
 * Orders a vendor's endpoints for one call: healthy ones first, then resting ones, spares last of
 * each.
 * Conversation and weights decide by weighted rendezvous hashing: a lost endpoint moves only its
 * own conversations.
 */
export function orderEndpoints<E extends EndpointHealth>(
  endpoints: readonly E[],
  model: string,
  modelBreakers: Pick<ModelBreakers, 'isOpen'>,
  affinity: Affinity,
): readonly E[] {
  if (endpoints.length < 2) return endpoints
  const conversation = affinity()
  return endpoints
    .map((endpoint) => ({
      endpoint,
      isAtRest: isResting(modelBreakers, endpoint, model),
      score: computeScore(conversation, endpoint.name, endpoint.weight),
    }))
    .sort((one, other) => Number(one.isAtRest) - Number(other.isAtRest) || other.score - one.score)
    .map(({ endpoint }) => endpoint)
}

export function isResting(
  modelBreakers: Pick<ModelBreakers, 'isOpen'>,
  { name, breaker }: EndpointHealth,
  model: string,
): boolean {
  return breaker.state === 'open' || modelBreakers.isOpen({ vendor: name, model })
}

/** A higher score comes earlier; weight 0 gives the lowest. */
export function computeScore(conversation: number, name: string, weight: number): number {
  if (weight === 0) return 0
  return -weight / Math.log((mixBits(hashText(conversation, name)) + 0.5) / 2 ** 32)
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
/** Hashes both ends of a long text, because agents' texts begin alike. */
const CHARACTERS = 200

function hashText(from: number, text: string): number {
  let hash = Math.imul(from ^ text.length, FNV_PRIME)
  const end = Math.min(text.length, CHARACTERS)
  for (let at = 0; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  for (let at = Math.max(end, text.length - CHARACTERS); at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}

/** With FNV alone, names that differ only at the end have nearly the same high bits. */
function mixBits(hash: number): number {
  let bits = hash ^ (hash >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
