import { createBilling } from '#billing/billing.ts'
import { openProcessor } from '#billing/processor.ts'
import { createMail } from '#mail/mail.ts'
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
  const { events, accounts, mended, failed } = done
  print(`${events} events that had not come, ${accounts} customers read, ${mended} payments and the like mended`)
  if (failed > 0) print(`${failed} could not be read`)
  return done.failed === 0 ? 0 : 1
}

const nobodySignsIn = {
  checkCredentials(): never {
    throw new Error('nobody signs in on the command line')
  },
}
