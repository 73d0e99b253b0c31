/** The customers of the seeded year, each with the story that a page of the service can show. */
import type { Chance } from './chance.ts'

/** The behavior of a card's bank. */
export type Card = 'good' | 'other' | 'expires soon' | 'fails at renewal' | 'disputed'

export type Person = {
  name: string
  /** Default: the first name at example.com. */
  email?: string
  /** Day of the year on which they join. */
  joins: number
  /** Day of their last sign-in; missing: the day on which they joined. */
  seen?: number
  /** Index of their plan above the free one; 0 is the free plan. */
  plan: number
  isYearly?: boolean
  /** Calls on a busy day. */
  calls: number
  /** Day after which they make no calls. */
  leaves?: number
  /** Position in the catalogue's products; missing: they buy nothing. */
  product?: number
  planCard?: Card
  productCard?: Card
  /** Days on which they change to another plan, cancel, pause and resume. */
  changes?: { day: number; plan: number }
  cancels?: number
  pauses?: number
  resumes?: number
  /** Days on which the operator refunds their purchase, or the last payment of their plan. */
  purchaseRefunded?: number
  planRefunded?: number
  /** Number of documents that they upload, one with each conversation and the rest on joining. */
  documents?: number
  /** Number of conversations, most of them in the last weeks before `seen`. */
  conversations?: number
}

/** Trials are on offer from this day on. Each card can begin only one. */
export const TRIALS_FROM = 290

export const CAST: readonly Person[] = [
  {
    name: 'Ada Lovelace',
    joins: 2,
    seen: 364,
    plan: 2,
    calls: 14,
    product: 2,
    documents: 6,
    conversations: 9,
  },
  {
    name: 'Grace Hopper',
    joins: 9,
    seen: 364,
    plan: 2,
    isYearly: true,
    calls: 10,
    product: 1,
    documents: 4,
    conversations: 4,
  },
  {
    name: 'Alan Turing',
    joins: 21,
    seen: 363,
    plan: 1,
    changes: { day: 180, plan: 2 },
    calls: 8,
    product: 0,
    documents: 3,
    conversations: 3,
  },
  { name: 'Anita Borg', joins: 33, plan: 1, calls: 2, leaves: 95, planRefunded: 95 },
  { name: 'Mary Jackson', joins: 40, seen: 360, plan: 1, calls: 6, documents: 3 },
  // The renewal fails, all retries fail too, and the plan ends.
  {
    name: 'Niklaus Wirth',
    joins: 60,
    plan: 1,
    calls: 3,
    leaves: 91,
    planCard: 'fails at renewal',
    documents: 2,
  },
  {
    name: 'Edsger Dijkstra',
    joins: 66,
    seen: 90,
    plan: 0,
    calls: 0,
    product: 0,
    purchaseRefunded: 74,
  },
  {
    name: 'Katherine Johnson',
    joins: 75,
    seen: 331,
    plan: 2,
    calls: 5,
    pauses: 250,
    resumes: 330,
    documents: 3,
  },
  { name: 'Barbara Liskov', joins: 93, seen: 362, plan: 1, calls: 5, product: 1, documents: 3 },
  {
    name: 'Margaret Hamilton',
    joins: 112,
    plan: 1,
    calls: 4,
    cancels: 190,
    leaves: 203,
    documents: 2,
  },
  { name: 'Donald Knuth', joins: 128, seen: 355, plan: 1, calls: 4, cancels: 350, documents: 3 },
  {
    name: 'Radia Perlman',
    joins: 170,
    seen: 364,
    plan: 2,
    changes: { day: 310, plan: 1 },
    calls: 9,
    product: 2,
    documents: 4,
    conversations: 1,
  },
  { name: 'John Backus', joins: 201, plan: 0, calls: 0, conversations: 1 },
  { name: 'Evelyn Berezin', joins: 220, seen: 340, plan: 0, calls: 0, product: 1 },
  {
    name: 'Claude Shannon',
    joins: 230,
    seen: 359,
    plan: 1,
    isYearly: true,
    calls: 3,
    documents: 2,
  },
  {
    name: 'Frances Allen',
    joins: 244,
    seen: 361,
    plan: 1,
    calls: 7,
    product: 0,
    productCard: 'disputed',
    documents: 3,
  },
  // Their trials: paid afterwards, cancelled, and still running.
  {
    name: 'Hedy Lamarr',
    joins: 295,
    seen: 363,
    plan: 1,
    calls: 5,
    planCard: 'other',
    documents: 2,
  },
  { name: 'Dennis Ritchie', joins: 318, seen: 325, plan: 1, calls: 2, leaves: 331, cancels: 325 },
  { name: 'Sophie Wilson', joins: 356, seen: 363, plan: 1, calls: 4, planCard: 'expires soon' },
  // The trial ended days ago: the first payment failed and is being retried.
  { name: 'Tony Hoare', joins: 345, seen: 358, plan: 1, calls: 3, planCard: 'fails at renewal' },
  { name: 'Karen Jones', joins: 350, plan: 0, calls: 0 },
]

const FIRST =
  'Alma Bruno Clara Dario Elsa Felix Greta Hugo Ines Jonas Kira Leon Mira Nils Olga Paul'
const LAST =
  'Abel Becker Costa Dahl Eriksen Ferrari Garcia Haas Ivanov Jansen Kaya Lopez Moreau Novak'

/** A name with a number, because thousands of users share few names. */
export function inventName(chance: Chance, number: number): { name: string; email: string } {
  const pick = (names: string) => {
    const list = names.split(' ')
    return list[Math.floor(chance() * list.length)] ?? ''
  }
  const [first, last] = [pick(FIRST), pick(LAST)]
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}.${number}@example.com`.toLowerCase(),
  }
}

/** Paying customers with an ordinary story, beside the cast. They join before trials exist. */
export function inventCustomers(chance: Chance, count: number): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const joins = 3 + Math.floor(chance() * (TRIALS_FROM - 5))
    const isLeaving = chance() < 0.25
    const cancels = joins + 10 + Math.floor(chance() * (350 - joins))
    return {
      ...inventName(chance, index + 1),
      joins,
      plan: chance() < 0.8 ? 1 : 2,
      isYearly: chance() < 0.15,
      calls: chance() < 0.5 ? 0 : 1,
      planCard: chance() < 0.05 ? 'fails at renewal' : 'good',
      ...(isLeaving ? { cancels, leaves: cancels } : {}),
      ...(chance() < 0.1 ? { product: Math.floor(chance() * 3) } : {}),
    }
  })
}
