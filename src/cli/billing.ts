import { createBilling } from '#billing/billing.ts'
import { openProcessor } from '#billing/processor.ts'
import { createMail } from '#mail/mail.ts'
import { sweepPayments } from '#storefront/payments/payment-sweep.ts'
import { createStorefront } from '#storefront/storefront.ts'
import type { Context } from './context.ts'

/** `billing sync`: events that never came, then every customer and every purchase of the last half year, one look each. */
export async function run([verb]: string[], { config, platform, print }: Context): Promise<number> {
  if (verb !== 'sync') {
    print('Usage: billing sync')
    return 2
  }
  const opened = await platform()
  const processor = openProcessor(config.processor)
  const billing = createBilling(opened, processor)
  const mail = createMail(opened)
  // One reading of the processor's list serves both, so whoever reads it must let both hear.
  createStorefront(opened, { mail, processor, billing, identity: nobodySignsIn })
  const done = await billing.sync().finally(() => mail.close())
  if (!done) {
    print('Billing is not configured: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET')
    return 1
  }
  print(`${done.events} events that had not come, ${done.accounts} customers read, ${done.failed} of them in vain`)
  const swept = await sweepPayments({ ...opened, processor }, { everyone: true })
  print(`${swept.payments} payments of purchases read, ${swept.failed} of them in vain`)
  return done.failed + swept.failed === 0 ? 0 : 1
}

const nobodySignsIn = {
  checkCredentials(): never {
    throw new Error('nobody signs in on the command line')
  },
}
