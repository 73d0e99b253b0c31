// The time machine of a sandboxed service: superusers move its clock, and see what happened on the
// way. A request moves one day at most, so it is short, and a client can stop between two of them.
import { Type } from 'typebox'
import { findOwnerIds } from '#billing/customers.ts'
import { findUserByEmail } from '#identity/users.ts'
import { DAY_MS, type Instant as Time } from '#platform/clock.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, InstantInput, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'
import { adminProblem } from './problems.ts'

type Payer = { customerId: string; email: string | null }
/** Events of the payment processor that the page can show. */
const EVENTS = [
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.upcoming',
  'customer.subscription.trial_will_end',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.deleted',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
] as const

/** The sandbox's clock. */
export type TimeMachine = {
  listAhead(): (Payer & { at: Time; what: string })[]
  /** Returns null when another move is running. */
  moveTo<Type extends string>(
    toMs: number,
    types: readonly Type[],
  ): Promise<{
    events: (Payer & {
      id: string
      at: Time
      type: Type
      amount: number | null
      currency: string | null
    })[]
    emails: { id: number; at: Time; to: string; subject: string }[]
  } | null>
}

const UserId = Nullable(Type.String({ description: 'Null when no account has this address.' }))

const TimeView = Type.Object(
  {
    now: Instant,
    real_time: Type.String({
      format: 'date-time',
      description: 'The time without the moves. The clock is never behind it.',
    }),
    ahead: Type.Array(
      Type.Object(
        { at: Instant, what: Type.String(), email: Nullable(Type.String()), user_id: UserId },
        { title: 'DueEvent' },
      ),
      { description: 'The next events of the processor.' },
    ),
  },
  { title: 'TimeMachine' },
)

const PassedEvent = Type.Object(
  {
    id: Type.String(),
    at: Instant,
    type: OneOf(...EVENTS),
    amount_cents: Nullable(Type.Integer({ description: 'In minor units of the currency.' })),
    currency: Nullable(Type.String()),
    email: Nullable(Type.String()),
    user_id: UserId,
  },
  { title: 'PassedEvent' },
)

const SentEmail = Type.Object(
  {
    id: Type.Integer({ description: 'The email is at `/sandbox/mail/{id}`.' }),
    at: Instant,
    to: Type.String(),
    subject: Type.String(),
    user_id: UserId,
  },
  { title: 'SentEmail' },
)

const MovedView = Type.Object(
  { ...TimeView.properties, events: Type.Array(PassedEvent), emails: Type.Array(SentEmail) },
  { title: 'MovedClock' },
)

export function adminTimeRoutes(
  app: App,
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  timeMachine: TimeMachine | null,
): void {
  app.get(
    '/api/admin/time-machine',
    adminRoute('readClock', 'Read the clock of a sandboxed service and the next events', {
      response: { 200: TimeView },
    }),
    () => viewClock(requireMachine()),
  )

  app.post(
    '/api/admin/time-machine',
    adminRoute('moveClock', 'Move the clock of a sandboxed service forward, by one day at most', {
      description:
        'Renewals, failed payments and emails that fall due happen on the way. The clock cannot move back.',
      body: Type.Object({ to: InstantInput }),
      response: { 200: MovedView },
    }),
    async ({ body }) => {
      const machine = requireMachine()
      const toMs = Date.parse(body.to)
      const byMs = toMs - clock.ms()
      if (!(byMs > 0 && byMs <= DAY_MS)) throw adminProblem('clock_step_refused')
      const passed = await machine.moveTo(toMs, EVENTS)
      if (passed === null) throw adminProblem('clock_moving')
      const recipients = await findRecipients(passed.emails.map(({ to }) => to))
      return {
        ...(await viewClock(machine)),
        events: (await addOwners(passed.events)).map(({ amount, ...event }) => ({
          ...event,
          amount_cents: amount,
        })),
        emails: passed.emails.map((mail) => ({
          ...mail,
          user_id: recipients.get(mail.to) ?? null,
        })),
      }
    },
  )

  function requireMachine(): TimeMachine {
    if (timeMachine === null) throw adminProblem('clock_fixed')
    return timeMachine
  }

  async function viewClock(machine: TimeMachine) {
    return {
      now: clock.now(),
      real_time: new Date(clock.ms() - (clock.movedMs?.() ?? 0)).toISOString(),
      ahead: await addOwners(machine.listAhead()),
    }
  }

  /** Replaces the processor's customers by users. */
  async function addOwners<T extends Payer>(items: readonly T[]) {
    const owners = await findOwnerIds(
      db,
      items.map(({ customerId }) => customerId),
    )
    return items.map(({ customerId, ...item }) => ({
      ...item,
      user_id: owners.get(customerId) ?? null,
    }))
  }

  async function findRecipients(addresses: readonly string[]): Promise<Map<string, string>> {
    const users = await Promise.all(
      [...new Set(addresses)].map(
        async (address) => [address, (await findUserByEmail(db, address))?.id] as const,
      ),
    )
    return new Map(users.flatMap(([address, id]) => (id === undefined ? [] : [[address, id]])))
  }
}
