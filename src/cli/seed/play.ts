/** Plays the events of the seeded year on a running service, in the order of their times. */
import type { Service } from '#app/service.ts'
import { type CataloguePlan, FREE } from '#catalogue/catalogue.ts'
import { findUser, insertUser, readSlices } from '#identity/users.ts'
import type { Instant } from '#platform/clock.ts'
import { createIdGenerator } from '#usage/ids.ts'
import { createPlanBudgets } from '#usage/plan-budgets.ts'
import { Customers } from './customers.ts'
import { Operator } from './operator.ts'
import type { Call, Deed } from './script.ts'
import { buildRecord } from './usage.ts'

export type Counts = Record<string, number>

/** Counted deeds, under the word that the command prints. */
const COUNTED: Partial<Record<Deed['kind'], string>> = {
  join: 'users',
  'issue-key': 'API keys',
  subscribe: 'subscriptions',
  buy: 'purchases',
  upload: 'documents',
  ask: 'conversations',
  write: 'messages',
  call: 'calls',
}

const TRIAL_DAYS = 14

export type Accounts = { superuser: string; password: string }

/**
 * Returns the number of what happened. `trials` are the plans of the service's settings. Without
 * `asksModels`, no conversation is held, because a real model would cost.
 */
export async function playYear(
  { platform, identity, usage }: Service,
  deeds: readonly Deed[],
  { accounts, trials, asksModels }: { accounts: Accounts; trials: Trials; asksModels: boolean },
): Promise<Counts> {
  const { config, clock, db } = platform
  const password_hash = await identity.hasher.hash(accounts.password)
  const customers = new Customers(config, accounts.password)
  const operator = new Operator(config, { email: accounts.superuser, password: accounts.password })
  const userIds = new Map<string, string>()
  const counts: Counts = Object.fromEntries(Object.values(COUNTED).map((word) => [word, 0]))
  const computeBudget = createPlanBudgets(config)
  const createId = createIdGenerator()
  let calls: Call[] = []

  const acts: Acts = {
    join: ({ email, name }) => join(email, name),
    'sign-in': ({ email, device }) => customers.signIn(email, device),
    'mistype-password': ({ email }) => customers.mistypePassword(email),
    subscribe: ({ email, card, ...plan }) => customers.subscribe(email, plan, card),
    'change-plan': ({ email, ...plan }) => customers.changePlan(email, plan),
    cancel: ({ email }) => customers.cancel(email),
    pause: ({ email }) => customers.pause(email),
    resume: ({ email }) => customers.resume(email),
    'issue-key': ({ email }) => customers.issueKey(email),
    'use-key': ({ email }) => customers.useKey(email),
    buy: ({ email, tier, card }) => customers.buy(email, tier, card),
    download: ({ email }) => customers.download(email),
    upload: ({ email, file }) => customers.upload(email, file),
    ask: ({ email, questions }) => customers.ask(email, questions),
    write: ({ message }) => customers.write(message),
    reply: ({ to, text }) => operator.reply(to, text),
    'refund-purchase': ({ email }) => operator.refundPurchase(email),
    'refund-plan': ({ email }) => operator.refundPlan(email),
    invite: ({ email }) => operator.invite(email),
    'offer-trials': async () => trials.offer(),
  }

  await join(accounts.superuser, 'Root', true)
  counts.users = 1
  for (const deed of deeds) {
    if ((deed.kind === 'ask' || deed.kind === 'use-key') && !asksModels) continue
    const word = COUNTED[deed.kind]
    if (word !== undefined) counts[word] = (counts[word] ?? 0) + 1
    if (deed.kind === 'call') {
      calls.push(deed)
      continue
    }
    await moveClock(deed.at)
    await acts[deed.kind](deed as never)
  }
  await moveClock(new Date().toISOString())
  return counts

  async function join(email: string, full_name: string, is_superuser = false): Promise<void> {
    const user = { email, full_name, password_hash, is_verified: true, is_superuser }
    userIds.set(email, (await insertUser(db, user, clock.now())).id)
  }

  /**
   * Moves the clock and records the calls since its last move. The clock also runs, so a slow
   * machine may be past `at`.
   */
  async function moveClock(at: Instant): Promise<void> {
    if (Date.parse(at) > clock.ms()) await operator.moveClock(at)
    await Promise.all(calls.map(chargeCall))
    calls = []
  }

  /** Counts the call in the period that its customer has paid for. */
  async function chargeCall(call: Call): Promise<void> {
    const record = readRecord(call)
    const { userId, tier, completionTokens } = record
    const user = await findUser(db, userId)
    const plan = computeBudget({ tier, slices: user && readSlices(user) }, call.at)
    const reservation = { userId, completionTokens, at: call.at, plan, held: null, open: null }
    await usage.ledger.settle({ id: createId(call.at), ...reservation }, record)
  }

  function readRecord(call: Call) {
    const userId = userIds.get(call.email)
    if (userId === undefined) throw new Error(`${call.email} calls a model before joining`)
    const keyId = customers.findKey(call.email)
    return buildRecord(config, call, { userId, keyId, tier: customers.findTier(call.email) })
  }
}

type Acts = {
  [K in Exclude<Deed['kind'], 'call'>]: (deed: Extract<Deed, { kind: K }>) => Promise<void>
}

export type Trials = { plans: CataloguePlan[]; offer(): void }

/**
 * Returns copies of the plans without trials, and the act that offers them: as long as the
 * catalogue says, or 14 days. Trials only appear late, because each test card can begin one.
 */
export function postponeTrials(plans: readonly CataloguePlan[]): Trials {
  const copies = plans.map((plan) => ({ ...plan, trialDays: 0 }))
  return {
    plans: copies,
    offer() {
      for (const [index, plan] of copies.entries())
        if (plan.tier !== FREE) plan.trialDays = plans[index]?.trialDays || TRIAL_DAYS
    },
  }
}
