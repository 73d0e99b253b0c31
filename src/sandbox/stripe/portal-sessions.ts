/** The customer portal's door: an address that opens the pages of one customer. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { badParameter } from './fault.ts'
import { mustParam, newId, put } from './objects.ts'
import { allow, optionalText, text } from './parameters.ts'
import { seconds, type World } from './world.ts'

export function createPortalSession(world: World, form: Form, origin: string): Stripe.BillingPortal.Session {
  allow(form, ['customer', 'return_url', 'configuration', 'locale', 'flow_data'])
  const customer = mustParam<Stripe.Customer>(world.db, 'customer', text(form, 'customer'), 'customer')
  if (customer.deleted as unknown)
    throw badParameter('customer', `No such customer: '${customer.id}'`, 'resource_missing')
  const id = newId('bps')
  const session: Stripe.BillingPortal.Session = {
    id,
    object: 'billing_portal.session',
    after_expiration: null,
    configuration: 'bpc_sandbox',
    created: seconds(world),
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: optionalText(form, 'locale'),
    on_behalf_of: null,
    return_url: optionalText(form, 'return_url'),
    url: `${origin}/sandbox/portal/${id}`,
  }
  return put(world.db, session, { owner: customer.id })
}
