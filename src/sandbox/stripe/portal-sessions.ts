/** Customer portal sessions: an address that opens the pages of one customer. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { badParameter } from './fault.ts'
import { mustParam, newId, put } from './objects.ts'
import { allow, optionalText, text } from './parameters.ts'

export function createPortalSession(deps: ProcessorDeps, form: Form, origin: string): Stripe.BillingPortal.Session {
  allow(form, ['customer', 'return_url', 'configuration', 'locale', 'flow_data'])
  const customer = mustParam<Stripe.Customer>(deps.db, 'customer', text(form, 'customer'), 'customer')
  if (customer.deleted as unknown)
    throw badParameter('customer', `No such customer: '${customer.id}'`, 'resource_missing')
  const id = newId('bps')
  const session: Stripe.BillingPortal.Session = {
    id,
    object: 'billing_portal.session',
    after_expiration: null,
    configuration: 'bpc_sandbox',
    created: seconds(deps),
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: optionalText(form, 'locale'),
    on_behalf_of: null,
    return_url: optionalText(form, 'return_url'),
    url: `${origin}/sandbox/portal/${id}`,
  }
  return put(deps.db, session, { owner: customer.id })
}
