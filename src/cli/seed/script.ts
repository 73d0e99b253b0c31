/**
 * The events of a small service's year: users join, call models, buy products and write messages.
 * Deterministic for the same day and settings, because random numbers have a fixed seed. Pure.
 */
import { type Catalogue, FREE } from '#catalogue/catalogue.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import { FILES, MESSAGES, type Message, type SeedFile } from './texts.ts'

const DAYS = 365

type Person = {
  name: string
  /** Day of the year on which they join. */
  joins: number
  /** Day of their last sign-in; missing: the day on which they joined. */
  seen?: number
  /** Index of their plan above the free one; 0 is the free plan. */
  plan: number
  /** Calls on a busy day. */
  calls: number
  /** Position in the catalogue's products; missing: they buy nothing. */
  product?: number
  planCard?: Card
  productCard?: Card
  /** Days on which they cancel their plan and on which their purchase is refunded. */
  cancels?: number
  refunded?: number
}

const CAST: readonly Person[] = [
  { name: 'Ada Lovelace', joins: 2, seen: 364, plan: 2, calls: 14, product: 2 },
  { name: 'Grace Hopper', joins: 9, seen: 364, plan: 2, calls: 10, product: 1 },
  { name: 'Alan Turing', joins: 21, seen: 363, plan: 1, calls: 8, product: 0 },
  { name: 'Mary Jackson', joins: 40, seen: 360, plan: 1, calls: 6 },
  { name: 'Edsger Dijkstra', joins: 66, seen: 90, plan: 0, calls: 0, product: 0, refunded: 74 },
  { name: 'Barbara Liskov', joins: 93, seen: 362, plan: 1, calls: 5, product: 1 },
  { name: 'Donald Knuth', joins: 128, seen: 355, plan: 1, calls: 4, cancels: 350 },
  { name: 'Radia Perlman', joins: 170, seen: 364, plan: 2, calls: 9, product: 2 },
  { name: 'John Backus', joins: 201, plan: 0, calls: 0 },
  {
    name: 'Frances Allen',
    joins: 244,
    seen: 361,
    plan: 1,
    calls: 7,
    product: 0,
    productCard: 'disputed',
  },
  // Joins a month and a few days before the end, so that the first renewal has failed and is being
  // retried.
  { name: 'Tony Hoare', joins: 328, seen: 358, plan: 1, calls: 3, planCard: 'fails at renewal' },
  { name: 'Karen Jones', joins: 350, plan: 0, calls: 0 },
]

const ROUTES = ['/api/ai/chat', '/v1/chat/completions', '/api/rag/query'] as const

export type Deed = { at: Instant } & (
  | { kind: 'join'; name: string; email: string }
  | { kind: 'sign-in'; email: string }
  | { kind: 'subscribe'; email: string; tier: string; card: Card }
  | { kind: 'cancel'; email: string }
  | { kind: 'issue-key'; email: string }
  | { kind: 'buy'; email: string; tier: string; card: Card }
  | { kind: 'refund'; email: string }
  | { kind: 'upload'; email: string; file: SeedFile }
  | { kind: 'write'; message: Message }
  | Call
)

/** The behavior of a card's bank. */
export type Card = 'good' | 'fails at renewal' | 'disputed'

export type Call = {
  kind: 'call'
  at: Instant
  email: string
  withKey: boolean
  /** The end user that a program with a key names. */
  endUser: string
  route: (typeof ROUTES)[number]
  /** Index of the configured vendor: 0 is the first, 1 the fallback. */
  vendor: 0 | 1
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  latencyMs: number
  outcome: 'ok' | 'failed' | 'cancelled'
}

/** Returns all events of the year before `now`, in chronological order. */
export function listDeeds(nowMs: number, catalogue: Pick<Catalogue, 'plans' | 'products'>): Deed[] {
  const chance = createChance(20_260_101)
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const at = (day: number, ms: number) => new Date(today - (DAYS - day) * DAY_MS + ms).toISOString()

  const { products } = catalogue
  const paid = catalogue.plans.filter(({ tier }) => tier !== FREE)
  const deeds = CAST.flatMap((person): Deed[] => {
    const {
      name,
      joins,
      seen,
      plan,
      calls,
      product,
      planCard = 'good',
      productCard = 'good',
    } = person
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`
    const tier = plan === 0 ? undefined : paid[Math.min(plan, paid.length) - 1]?.tier
    const bought =
      product === undefined ? undefined : products[Math.min(product, products.length - 1)]
    // Within the half hour before the access token expires.
    const morning = (minute: number) => at(joins, 9 * HOUR_MS + minute * MINUTE_MS)
    const mine: Deed[] = [
      { kind: 'join', at: morning(0), name, email },
      { kind: 'sign-in', at: morning(1), email },
    ]
    if (seen !== undefined) mine.push({ kind: 'sign-in', at: at(seen, 8 * HOUR_MS), email })
    if (bought)
      mine.push({ kind: 'buy', at: morning(2), email, tier: bought.tier, card: productCard })
    if (bought && person.refunded)
      mine.push({ kind: 'refund', at: at(person.refunded, 15 * HOUR_MS), email })
    if (!tier) return mine
    mine.push({ kind: 'subscribe', at: morning(5), email, tier, card: planCard })
    mine.push({ kind: 'issue-key', at: morning(8), email })
    for (const [index, file] of FILES.slice(0, plan + 2).entries())
      mine.push({ kind: 'upload', at: morning(10 + index), email, file })
    for (let day = joins + 1; day < DAYS; day++) mine.push(...createCalls(email, day, calls))
    if (person.cancels) {
      mine.push({ kind: 'sign-in', at: at(person.cancels, 10 * HOUR_MS), email })
      mine.push({ kind: 'cancel', at: at(person.cancels, 10 * HOUR_MS + MINUTE_MS), email })
    }
    return mine
  })
  for (const { day, ...message } of MESSAGES)
    deeds.push({ kind: 'write', at: at(day, 16 * HOUR_MS), message })
  return deeds.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))

  /**
   * Creates a day's calls: fewer at weekends, more with the months; one in fifty fails, and a few
   * use the second vendor.
   */
  function createCalls(email: string, day: number, busy: number): Call[] {
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

/** Mulberry32: a deterministic sequence of numbers from 0 up to 1 for each seed. */
function createChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
