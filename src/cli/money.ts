/** Opens billing for commands, with the rooms that listen to it. */
import { type Billing, createBilling } from '#billing/billing.ts'
import { openProcessor } from '#billing/processor.ts'
import { createMail } from '#mail/mail.ts'
import type { Platform } from '#platform/platform.ts'
import { createStorefront } from '#storefront/storefront.ts'

/** Includes the storefront, because one reading of the processor informs both. */
export async function withBilling<T>(
  opened: Platform,
  work: (billing: Billing) => Promise<T>,
): Promise<T> {
  const processor = openProcessor(opened.config.processor)
  const billing = createBilling(opened, processor)
  const mail = createMail(opened)
  createStorefront(opened, { mail, processor, billing, identity: withoutSignIn })
  return work(billing).finally(() => mail.close())
}

const refuseSignIn = (): never => {
  throw new Error('the command line has no sign-in')
}
const withoutSignIn = {
  checkCredentials: refuseSignIn,
  requestEmailedCode: refuseSignIn,
  checkEmailedCode: refuseSignIn,
}
