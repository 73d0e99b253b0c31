/**
 * What a year of a small service looks like: who joins when, what they use, buy and write. The same for the same day and settings,
 * since chance is drawn from a fixed seed. Pure: nothing is written here.
 */
import { type Catalogue, FREE } from '#catalogue/catalogue.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import { inMinorUnits } from '#platform/money.ts'

const DAYS = 365

/** Name, the day they join, how many plans above the free one, calls on a busy day, product (none: -1). */
const CAST: readonly [name: string, joins: number, plan: number, calls: number, product: number][] = [
  ['Ada Lovelace', 2, 2, 14, 2],
  ['Grace Hopper', 9, 2, 10, 1],
  ['Alan Turing', 21, 1, 8, 0],
  ['Mary Jackson', 40, 1, 6, -1],
  ['Edsger Dijkstra', 66, 0, 0, 0],
  ['Barbara Liskov', 93, 1, 5, 1],
  ['Donald Knuth', 128, 1, 4, -1],
  ['Radia Perlman', 170, 2, 9, 2],
  ['John Backus', 201, 0, 0, -1],
  ['Frances Allen', 244, 1, 7, 0],
  ['Tony Hoare', 301, 1, 3, -1],
  ['Karen Jones', 350, 0, 0, -1],
]

const DOCUMENTS: readonly [source: string, text: string][] = [
  [
    'returns.md',
    'Returns. A customer may send goods back within thirty days of delivery. The shop pays the way back when the goods were damaged or not what was ordered; otherwise the customer does. Money is returned within five working days after the parcel has arrived, to the card that paid.',
  ],
  [
    'on-call.md',
    'On call. Whoever is on call answers a page within fifteen minutes. First say in the channel that you look at it. Then stop the bleeding: roll back, shed load, or fail over. Look for the cause when customers are served again. Write down what was seen, what was done and when, within two days.',
  ],
  [
    'style.md',
    'Style. Write for somebody who is new and in a hurry. Put the answer first and the reason after it. Prefer the word of the trade to one of your own. A sentence that can be left out is left out. Numbers have their unit, and times their zone.',
  ],
]

const ROUTES = ['/api/ai/chat', '/v1/chat/completions', '/api/rag/query'] as const

export type Deed = { at: Instant } & (
  | { kind: 'join'; name: string; email: string }
  | { kind: 'subscribe'; email: string; tier: string }
  | { kind: 'issue-key'; email: string }
  | { kind: 'buy'; email: string; tier: string; amountCents: number; currency: string }
  | { kind: 'ingest'; email: string; source: string; text: string }
  | Call
)

export type Call = {
  kind: 'call'
  at: Instant
  email: string
  withKey: boolean
  /** Whom a program with a key asks for. */
  endUser: string
  route: (typeof ROUTES)[number]
  /** Which of the configured vendors: 0 is the first, 1 the one that steps in. */
  vendor: 0 | 1
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  latencyMs: number
  outcome: 'ok' | 'failed' | 'cancelled'
}

/** All that happened in the year before `now`, in its order. */
export function deedsUntil(nowMs: number, catalogue: Pick<Catalogue, 'plans' | 'products'>): Deed[] {
  const chance = chanceFrom(20_260_101)
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const at = (day: number, ms: number) => new Date(today - (DAYS - day) * DAY_MS + ms).toISOString()

  const paid = catalogue.plans.filter(({ tier }) => tier !== FREE)
  const deeds = CAST.flatMap(([name, joins, plan, calls, product]): Deed[] => {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`
    const tier = plan === 0 ? undefined : paid[Math.min(plan, paid.length) - 1]?.tier
    const bought = catalogue.products[Math.min(product, catalogue.products.length - 1)]
    const mine: Deed[] = [{ kind: 'join', at: at(joins, 9 * HOUR_MS), name, email }]
    if (bought)
      mine.push({
        kind: 'buy',
        at: at(joins, 9.5 * HOUR_MS),
        email,
        tier: bought.tier,
        amountCents: inMinorUnits(bought.price, bought.currency),
        currency: bought.currency,
      })
    if (!tier) return mine
    mine.push({ kind: 'subscribe', at: at(joins, 10 * HOUR_MS), email, tier })
    mine.push({ kind: 'issue-key', at: at(joins, 11 * HOUR_MS), email })
    for (const [index, [source, text]] of DOCUMENTS.slice(0, plan + 1).entries())
      mine.push({ kind: 'ingest', at: at(joins, 12 * HOUR_MS + index * MINUTE_MS), email, source, text })
    for (let day = joins + 1; day < DAYS; day++) mine.push(...callsOf(email, day, calls))
    return mine
  })
  return deeds.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))

  /** Fewer at weekends, more with the months; one in fifty fails, and a few are answered by the second vendor. */
  function callsOf(email: string, day: number, busy: number): Call[] {
    const weekday = new Date(at(day, 0)).getUTCDay()
    const weight = (weekday === 0 || weekday === 6 ? 0.2 : 1) * (0.4 + (0.6 * day) / DAYS)
    return Array.from({ length: Math.floor(busy * weight * chance() + 0.3) }, () => {
      const withKey = chance() < 0.7
      const failed = chance() < 0.02
      const promptTokens = 80 + Math.floor(chance() ** 3 * 6_000)
      return {
        kind: 'call',
        at: at(day, 13 * HOUR_MS + Math.floor(chance() * 9 * HOUR_MS)),
        email,
        withKey,
        endUser: withKey ? `customer-${1 + Math.floor(chance() ** 2 * 9)}` : '',
        route: ROUTES[Math.floor(chance() * ROUTES.length)] ?? ROUTES[0],
        vendor: chance() < 0.05 ? 1 : 0,
        promptTokens,
        completionTokens: failed ? 0 : 20 + Math.floor(chance() ** 2 * 900),
        cachedTokens: chance() < 0.3 ? Math.floor(promptTokens / 2) : 0,
        latencyMs: Math.round(0.4 * SECOND_MS + chance() ** 2 * 6 * SECOND_MS),
        outcome: failed ? 'failed' : chance() < 0.02 ? 'cancelled' : 'ok',
      }
    })
  }
}

/** Mulberry32: numbers from 0 up to 1, the same row of them for the same seed. */
function chanceFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
