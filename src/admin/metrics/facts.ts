/** Reads the daily sums from which metrics are computed. */
import { type DayOfCheckouts, sumCheckoutsByDay } from '#billing/metrics/checkout-days.ts'
import {
  type DayOfChanges,
  sumChangesByDay,
  sumEarlierChanges,
} from '#billing/metrics/subscription-sums.ts'
import { type DayRevenue, sumRevenueByDay } from '#billing/money/revenue.ts'
import { countSignUpsByDay } from '#identity/user-counts.ts'
import type { Db } from '#platform/db/db.ts'
import { countDocumentsByDay } from '#rag/documents/document-counts.ts'
import { listArchivedCosts, sampleFirstTokens, sumAllUsage } from '#usage/operator-sums.ts'
import type { Span } from '#usage/span.ts'
import { readInstants } from './windows.ts'

type Dated = { day: string }

export type Facts = {
  revenue: DayRevenue[]
  changes: DayOfChanges[]
  /** All changes before the span. */
  before: Omit<DayOfChanges, 'day'>[]
  usage: (Dated & { requests: number; failed: number; cost_nanos: number })[]
  /** Costs that are known by month only count on its first day. */
  archived: (Dated & { cost_nanos: number })[]
  firstTokens: (Dated & { ms: number })[]
  signUps: (Dated & { users: number })[]
  documents: (Dated & { documents: number })[]
  checkouts: DayOfCheckouts[]
}

export type Source =
  | 'revenue'
  | 'changes'
  | 'usage'
  | 'firstTokens'
  | 'users'
  | 'documents'
  | 'checkouts'

const NO_FACTS: Facts = {
  revenue: [],
  changes: [],
  before: [],
  usage: [],
  archived: [],
  firstTokens: [],
  signUps: [],
  documents: [],
  checkouts: [],
}

const READERS: Record<Source, (db: Db, span: Span) => Promise<Partial<Facts>>> = {
  revenue: async (db, span) => ({ revenue: await sumRevenueByDay(db, readInstants(span)) }),
  changes: async (db, span) => ({
    changes: await sumChangesByDay(db, span),
    before: await sumEarlierChanges(db, span.from),
  }),
  usage: async (db, span) => ({
    usage: await readUsage(db, span),
    archived: (
      await listArchivedCosts(db, { from: span.from.slice(0, 7), to: span.to.slice(0, 7) })
    ).map(({ month, cost_nanos }) => ({ day: `${month}-01`, cost_nanos })),
  }),
  async firstTokens(db, span) {
    const usage = await readUsage(db, span)
    const requests = usage.reduce((sum, day) => sum + day.requests, 0)
    return { firstTokens: await sampleFirstTokens(db, span, requests) }
  },
  users: async (db, span) => ({ signUps: await countSignUpsByDay(db, span) }),
  documents: async (db, span) => ({ documents: await countDocumentsByDay(db, readInstants(span)) }),
  checkouts: async (db, span) => ({ checkouts: await sumCheckoutsByDay(db, readInstants(span)) }),
}

export async function readFacts(db: Db, span: Span, sources: Iterable<Source>): Promise<Facts> {
  const parts = await Promise.all([...sources].map((source) => READERS[source](db, span)))
  return Object.assign({ ...NO_FACTS }, ...parts)
}

async function readUsage(db: Db, span: Span): Promise<Facts['usage']> {
  const sums = await sumAllUsage(db, span, 'day', DAYS_MAX)
  return sums.map(({ key, ...sum }) => ({ day: key, ...sum }))
}

/** Two spans of at most a year. */
const DAYS_MAX = 1_000
