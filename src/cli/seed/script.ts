/**
 * The events of a small service's year: users join, pay, call models, ask questions and write
 * messages, and the operator answers. Deterministic for the same day, settings and number. Pure.
 */
import { type Catalogue, FREE } from '#catalogue/catalogue.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import { CAST, type Card, inventCustomers, type Person, TRIALS_FROM } from './cast.ts'
import { type Chance, createChance } from './chance.ts'
import { CONVERSATIONS, FILES, INVITED, MESSAGES, type Message, type SeedFile } from './texts.ts'

const DAYS = 365

const ROUTES = ['/api/ai/chat', '/v1/chat/completions', '/api/rag/query'] as const

type PlanChoice = { tier: string; isYearly: boolean }

export type Deed = { at: Instant } & (
  | { kind: 'join'; name: string; email: string }
  | { kind: 'sign-in'; email: string; device: Device }
  | { kind: 'mistype-password'; email: string }
  | ({ kind: 'subscribe'; email: string; card: Card } & PlanChoice)
  | ({ kind: 'change-plan'; email: string } & PlanChoice)
  | { kind: 'cancel' | 'pause' | 'resume' | 'issue-key' | 'use-key' | 'download'; email: string }
  | { kind: 'buy'; email: string; tier: string; card: Card }
  | { kind: 'upload'; email: string; file: SeedFile }
  | { kind: 'ask'; email: string; questions: readonly string[] }
  | { kind: 'write'; message: Message }
  | { kind: 'reply'; to: string; text: string }
  | { kind: 'refund-purchase' | 'refund-plan'; email: string }
  | { kind: 'invite'; email: string }
  | { kind: 'offer-trials' }
  | Call
)

export type Device = 'laptop' | 'phone'

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

type Offers = Pick<Catalogue, 'plans' | 'products'>
/** Returns the instant on a day of the year, `ms` after its midnight. */
type At = (day: number, ms: number) => Instant

/**
 * Returns all events of the year before `now`, in chronological order. `number` changes the random
 * ones; `customers` is the number of paying customers beside the cast.
 */
export function listDeeds(
  nowMs: number,
  offers: Offers,
  { number = 1, customers = 0 }: { number?: number; customers?: number } = {},
): Deed[] {
  const chance = createChance(20_260_100 + number)
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const at: At = (day, ms) => new Date(today - (DAYS - day) * DAY_MS + ms).toISOString()
  const people = [...CAST, ...inventCustomers(createChance(number), customers)]
  const deeds = people.flatMap((person) => [
    ...listPersonDeeds(person, offers, at),
    ...listCalls(person, at, chance),
  ])
  return [...deeds, ...listOperatorDeeds(at)].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  )
}

const findEmail = ({ email, name }: Person) =>
  email ?? `${name.split(' ')[0]?.toLowerCase()}@example.com`

function listPersonDeeds(person: Person, { plans, products }: Offers, at: At): Deed[] {
  const { name, joins, seen, plan, product, planCard = 'good', productCard = 'good' } = person
  const { documents = 0, conversations = 0 } = person
  const email = findEmail(person)
  const paid = plans.filter(({ tier }) => tier !== FREE)
  const choosePlan = (index: number) => ({
    tier: paid[Math.min(index, paid.length) - 1]?.tier ?? FREE,
    isYearly: person.isYearly ?? false,
  })
  const bought =
    product === undefined ? undefined : products[Math.min(product, products.length - 1)]
  const deeds: Deed[] = [
    { kind: 'join', at: at(joins, 9 * HOUR_MS), name, email },
    ...during(joins, 9 * HOUR_MS, [
      ...(bought
        ? [
            { kind: 'buy', email, tier: bought.tier, card: productCard } as const,
            ...(productCard === 'disputed' ? [] : [{ kind: 'download', email } as const]),
          ]
        : []),
      ...(plan > 0 && paid.length > 0
        ? [
            { kind: 'subscribe', email, card: planCard, ...choosePlan(plan) } as const,
            { kind: 'issue-key', email } as const,
          ]
        : []),
      ...FILES.slice(conversations, documents).map(
        (file) => ({ kind: 'upload', email, file }) as const,
      ),
    ]),
    ...CONVERSATIONS.slice(0, conversations).flatMap((questions, index) =>
      during(chooseDay(index), 12 * HOUR_MS, [
        ...FILES.slice(index, Math.min(index + 1, documents)).map(
          (file) => ({ kind: 'upload', email, file }) as const,
        ),
        { kind: 'ask', email, questions },
      ]),
    ),
  ]
  if (seen !== undefined) {
    deeds.push({ kind: 'mistype-password', at: at(seen, 8 * HOUR_MS), email })
    deeds.push({ kind: 'sign-in', at: at(seen, 8 * HOUR_MS + MINUTE_MS), email, device: 'phone' })
  }
  if (bought && person.purchaseRefunded)
    deeds.push({ kind: 'refund-purchase', at: at(person.purchaseRefunded, 15 * HOUR_MS), email })
  if (paid.length === 0) return deeds
  const { changes, cancels, pauses, resumes, planRefunded } = person
  if (changes)
    deeds.push(
      ...during(changes.day, 10 * HOUR_MS, [
        { kind: 'change-plan', email, ...choosePlan(changes.plan) },
      ]),
    )
  if (cancels) deeds.push(...during(cancels, 10 * HOUR_MS, [{ kind: 'cancel', email }]))
  if (pauses) deeds.push(...during(pauses, 11 * HOUR_MS, [{ kind: 'pause', email }]))
  if (resumes) deeds.push(...during(resumes, 11 * HOUR_MS, [{ kind: 'resume', email }]))
  if (planRefunded) deeds.push({ kind: 'refund-plan', at: at(planRefunded, 15 * HOUR_MS), email })
  if (plan > 0 && planCard === 'good' && person.leaves === undefined && !cancels)
    deeds.push({ kind: 'use-key', at: at(DAYS - 1, 22 * HOUR_MS), email })
  return deeds

  /** The first conversation is on the day of joining; the others become more frequent. */
  function chooseDay(index: number): number {
    const share = (conversations - 1 - index) / Math.max(1, conversations - 1)
    return Math.round((seen ?? joins) - ((seen ?? joins) - joins) * share ** 2)
  }

  /** A sign-in and what follows in the half hour before the access token expires. */
  function during(day: number, ms: number, acts: readonly Act[]): Deed[] {
    return [{ kind: 'sign-in', email, device: 'laptop' } as const, ...acts].map((act, index) => ({
      ...act,
      at: at(day, ms + (index + 1) * MINUTE_MS),
    }))
  }
}

type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never
type Act = WithoutTime<Deed>

function listOperatorDeeds(at: At): Deed[] {
  return [
    { kind: 'offer-trials', at: at(TRIALS_FROM, 8 * HOUR_MS) },
    ...MESSAGES.flatMap(({ day, reply, ...message }): Deed[] => [
      { kind: 'write', at: at(day, 16 * HOUR_MS), message },
      ...(reply
        ? [{ kind: 'reply', at: at(day + 1, 9 * HOUR_MS), to: message.email, text: reply } as const]
        : []),
    ]),
    ...INVITED.map(
      ({ day, email }) => ({ kind: 'invite', at: at(day, 12 * HOUR_MS), email }) as const,
    ),
  ]
}

function listCalls(person: Person, at: At, chance: Chance): Call[] {
  const { joins, leaves = DAYS - 1, calls, plan } = person
  if (plan === 0 || calls === 0) return []
  return Array.from({ length: Math.max(0, leaves - joins) }, (_, index) =>
    createCalls(findEmail(person), joins + 1 + index, calls),
  ).flat()

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
      const promptTokens = 400 + Math.floor(chance() ** 3 * 90_000)
      return {
        kind: 'call',
        at: at(day, 13 * HOUR_MS + Math.floor(chance() * 9 * HOUR_MS)),
        email,
        withKey,
        endUser: withKey ? `customer-${1 + Math.floor(chance() ** 2 * 9)}` : '',
        route: ROUTES[Math.floor(chance() * ROUTES.length)] ?? ROUTES[0],
        vendor: chance() < 0.05 ? 1 : 0,
        promptTokens,
        completionTokens: failed ? 0 : 60 + Math.floor(chance() ** 2 * 4_000),
        cachedTokens: chance() < 0.3 ? Math.floor(promptTokens / 2) : 0,
        latencyMs: Math.round(0.4 * SECOND_MS + chance() ** 2 * 6 * SECOND_MS),
        outcome: failed ? 'failed' : chance() < 0.02 ? 'cancelled' : 'ok',
      }
    })
  }
}
