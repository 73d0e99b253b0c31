/**
 * The sandbox's clock for the service's own pages: moves it, and returns what happened on the way.
 */
import type { Stripe } from 'stripe'
import type { Instant } from '#platform/clock.ts'
import { listNewMails } from './mailbox.ts'
import type { ProcessorDeps } from './stripe/deps.ts'
import { toIso } from './stripe/hosted-page.ts'
import { findLastSeq, findNewEvents, get, type StoredEvent } from './stripe/objects.ts'
import { listSchedule } from './stripe/schedule.ts'
import type { TimeTravel } from './stripe/time-travel.ts'

type Payer = { customerId: string; email: string | null }
/** `amount`: in the currency's minor units; null for events without money. */
type MoneyEvent<Type> = Payer & {
  id: string
  at: Instant
  type: Type
  amount: number | null
  currency: string | null
}
type SentMail = { id: number; at: Instant; to: string; subject: string }
type Passed<Type> = { events: MoneyEvent<Type>[]; emails: SentMail[] }
type Ahead = Payer & { at: Instant; what: string }

const AHEAD_MAX = 8

/** The fields of invoices, subscriptions, charges and disputes that are read here. */
type EventObject = {
  customer?: string
  charge?: string
  currency?: string
  amount?: number
  amount_paid?: number
  amount_due?: number
  amount_refunded?: number
}

export function createTimeMachine(deps: ProcessorDeps, time: TimeTravel) {
  const { db } = deps
  const describePayer = (customerId: string): Payer => ({
    customerId,
    email: get<Stripe.Customer>(deps, customerId)?.email ?? null,
  })

  return {
    /** False when the processor is not the sandbox's own. */
    canMove: time.canMove,

    /** Returns the next due events, the first first. */
    listAhead: (): Ahead[] =>
      listSchedule(deps)
        .slice(0, AHEAD_MAX)
        .map(({ at, what, customer }) => ({ at: toIso(at), what, ...describePayer(customer) })),

    /**
     * Moves the clock, and returns the events of these types and all emails on the way; null when
     * another move is running. @throws Fault for a past time
     */
    async moveTo<Type extends string>(
      toMs: number,
      types: readonly Type[],
    ): Promise<Passed<Type> | null> {
      if (time.isMoving()) return null
      const [event, mail] = [findLastSeq(db, 'stripe_objects'), findLastSeq(db, 'mails')]
      await time.moveTo(toMs)
      return {
        events: findNewEvents(db, event, types).flatMap((one) => describeEvent<Type>(one)),
        emails: listNewMails(db, mail).map(({ seq, at, recipient, subject }) => ({
          id: seq,
          at,
          to: recipient,
          subject,
        })),
      }
    },
  }

  function describeEvent<Type extends string>({
    id,
    created,
    type,
    data,
  }: StoredEvent): MoneyEvent<Type>[] {
    const object = data.object as EventObject
    const charge = get<Stripe.Charge>(deps, String(object.charge))
    const amount = readAmount(type, object)
    // The first invoice of a trial is paid with nothing.
    if (type === 'invoice.paid' && amount === 0) return []
    return [
      {
        id,
        at: toIso(created),
        type: type as Type,
        amount,
        currency: amount === null ? null : (object.currency ?? null),
        ...describePayer(String(object.customer ?? charge?.customer)),
      },
    ]
  }
}

function readAmount(type: string, object: EventObject): number | null {
  if (type === 'invoice.paid') return object.amount_paid ?? null
  if (type.startsWith('invoice.')) return object.amount_due ?? null
  if (type === 'charge.refunded') return object.amount_refunded ?? null
  return type.startsWith('charge.') ? (object.amount ?? null) : null
}
