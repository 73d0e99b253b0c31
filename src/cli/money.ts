/** Billing with everyone who hears of it, for commands. */
import { type Billing, createBilling } from '#billing/billing.ts'
import { openProcessor } from '#billing/processor.ts'
import { createMail } from '#mail/mail.ts'
import type { Platform } from '#platform/platform.ts'
import { createStorefront } from '#storefront/storefront.ts'

/** The storefront, too: one reading of the processor serves both, so whoever reads it must let both hear. */
export async function withBilling<T>(
  opened: Platform,
  work: (billing: Billing) => Promise<T>,
): Promise<T> {
  const processor = openProcessor(opened.config.processor)
  const billing = createBilling(opened, processor)
  const mail = createMail(opened)
  createStorefront(opened, { mail, processor, billing, identity: nobodySignsIn })
  return work(billing).finally(() => mail.close())
}

const nobodySignsIn = {
  checkCredentials(): never {
    throw new Error('nobody signs in on the command line')
  },
}
