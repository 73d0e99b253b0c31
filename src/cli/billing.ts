import { parseArgs } from 'node:util'
import { PriceProblem } from '#billing/price-moves.ts'
import type { Interval } from '#catalogue/catalogue.ts'
import { findUserByEmail } from '#identity/users.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { parseMonth, printMovements, printReport } from './billing-report.ts'
import type { Context } from './context.ts'
import { withBilling } from './money.ts'

export const USAGE = `Usage: billing sync                         reads missed events, all customers, and payments of half a year
       billing report --month 2026-09 [--csv]
                                           reports a month; --csv lists each payment, refund, lost dispute and fee
       billing deal EMAIL --plan TIER --amount 19.50 [--interval year]
                                           creates a price for one customer and offers it on their billing page
       billing move-price OLD NEW [--yes]  moves subscribers to a new price from their next period on;
                                           without --yes it only counts them`

export async function run([verb, ...args]: string[], context: Context): Promise<number> {
  const command = verb === undefined || !Object.hasOwn(VERBS, verb) ? null : VERBS[verb]
  try {
    if (command) return await command(args, context)
  } catch (error) {
    if (
      !(error instanceof PriceProblem) &&
      (error as { code?: string }).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
    )
      throw error
    context.print((error as Error).message)
    return 1
  }
  context.print(USAGE)
  return 2
}

const VERBS: Record<string, (args: string[], context: Context) => Promise<number>> = {
  sync,
  report,
  deal,
  'move-price': movePrice,
}

function misused({ print }: Context): number {
  print(USAGE)
  return 2
}

async function sync(args: string[], context: Context): Promise<number> {
  if (args.length > 0) return misused(context)
  const { platform, print } = context
  const done = await withBilling(await platform(), (billing) => billing.sync())
  if (!done) {
    print('Billing is not configured: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET')
    return 1
  }
  const { events, accounts, repaired, failed } = done
  print(`${events} missed events and ${accounts} customers read, ${repaired} payment rows repaired`)
  if (failed > 0) print(`${failed} could not be read or repaired`)
  return done.failed === 0 ? 0 : 1
}

async function report(args: string[], context: Context): Promise<number> {
  const options = { month: { type: 'string' }, csv: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const { month = '', csv = false } = values
  if (!parseMonth(month) || positionals.length > 0) return misused(context)
  const { config, platform, print } = context
  const report = { db: (await platform()).db, config, print }
  await (csv ? printMovements(report, month) : printReport(report, month))
  return 0
}

async function deal(args: string[], context: Context): Promise<number> {
  const options = {
    plan: { type: 'string' },
    amount: { type: 'string' },
    interval: { type: 'string' },
  } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const { plan, amount = '', interval = 'month' } = values
  const [email, ...more] = positionals
  const isInterval = interval === 'month' || interval === 'year'
  if (!email || !plan || !isInterval || !/^\d+(\.\d+)?$/.test(amount) || more.length > 0)
    return misused(context)
  const opened = await context.platform()
  const user = await findUserByEmail(opened.db, email)
  if (!user) throw new PriceProblem(`no user has the address ${email}`)
  const wish = { tier: plan, interval: interval as Interval, amount: Number(amount) }
  const made = await withBilling(opened, (billing) => billing.makeDeal(user, wish))
  const cost = formatMoney(inUnits(made.amount_cents, made.currency), made.currency)
  context.print(
    `${made.price_id}: ${plan} for ${cost} a ${interval}, for ${email} only, who can accept it on the billing page`,
  )
  return 0
}

async function movePrice(args: string[], context: Context): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { yes: { type: 'boolean' } },
  })
  const [from, to, ...more] = positionals
  if (!from || !to || more.length > 0) return misused(context)
  const { print } = context
  return withBilling(await context.platform(), async (billing) => {
    if (!values.yes) {
      const { length } = await billing.listSubscribers(from, to)
      print(
        `${length} subscribers pay ${from}. Run again with --yes to email them and charge ${to} from their next period on.`,
      )
      return 0
    }
    const { moved, skipped, failed } = await billing.movePrice(from, to)
    print(`${moved} moved, ${skipped.length} skipped, ${failed} failed`)
    for (const why of skipped) print(`  ${why}`)
    return failed === 0 ? 0 : 1
  })
}
