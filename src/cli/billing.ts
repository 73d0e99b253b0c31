import { monthOf, printReport } from './billing-report.ts'
import type { Context } from './context.ts'
import { withBilling } from './money.ts'

const USAGE = 'Usage: billing sync, or billing report --month 2026-09'

/**
 * `billing sync`: events that never came, every customer, and all payments, refunds, disputes and invoices of the last half year.
 * `billing report`: what a month brought.
 */
export async function run([verb, ...args]: string[], context: Context): Promise<number> {
  const { platform, print } = context
  if (verb === 'report') return report(args, context)
  if (verb !== 'sync' || args.length > 0) {
    print(USAGE)
    return 2
  }
  const done = await withBilling(await platform(), (billing) => billing.sync())
  if (!done) {
    print('Billing is not configured: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET')
    return 1
  }
  const { events, accounts, mended, failed } = done
  print(`${events} events that had not come, ${accounts} customers read, ${mended} payments and the like mended`)
  if (failed > 0) print(`${failed} could not be read or mended`)
  return done.failed === 0 ? 0 : 1
}

async function report([option, month, ...more]: string[], { config, platform, print }: Context): Promise<number> {
  if (option !== '--month' || !monthOf(month) || more.length > 0) {
    print(USAGE)
    return 2
  }
  await printReport({ db: (await platform()).db, config, print }, month ?? '')
  return 0
}
