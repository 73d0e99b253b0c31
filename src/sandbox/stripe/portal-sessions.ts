/** Customer portal sessions: a URL for the pages of one customer, or for one action (a flow). */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { badParameter, badReference } from './fault.ts'
import { getNamed, newId, put } from './objects.ts'
import { allowSupported, group, optionalText, text } from './parameters.ts'
import { hasEnded } from './subscriptions.ts'

const FLOWS = ['payment_method_update', 'subscription_cancel']

export function createPortalSession(
  deps: ProcessorDeps,
  form: Form,
  origin: string,
): Stripe.BillingPortal.Session {
  allowSupported(form, ['customer', 'return_url', 'flow_data'])
  const customer = getNamed(deps, 'customer', text(form, 'customer'), 'customer')
  if (customer.deleted as unknown) throw badReference('customer', customer.id, 'customer')
  const id = newId('bps')
  const flow = readFlow(deps, form, customer.id)
  const session: Stripe.BillingPortal.Session = {
    id,
    ...blank('billing_portal.session'),
    configuration: 'bpc_sandbox',
    created: seconds(deps),
    customer: customer.id,
    flow,
    locale: null,
    return_url: optionalText(form, 'return_url'),
    url: `${origin}/sandbox/portal/${id}${flow ? '/flow' : ''}`,
  }
  return put(deps, session, { owner: customer.id })
}

function readFlow(
  deps: ProcessorDeps,
  form: Form,
  customer: string,
): Stripe.BillingPortal.Session.Flow | null {
  if (form.flow_data === undefined) return null
  const data = group(form, 'flow_data')
  const type = text(data, 'type')
  if (!FLOWS.includes(type))
    throw badParameter('flow_data[type]', `The sandbox plays ${FLOWS.join(', ')}.`)
  allowSupported(data, ['type', 'after_completion', type], 'flow_data')
  const flow: Stripe.BillingPortal.Session.Flow = {
    after_completion: readAfterCompletion(data),
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update: null,
    subscription_update_confirm: null,
    type,
  }
  if (type === 'payment_method_update') return flow

  const cancel = group(data, type)
  const at = `flow_data[${type}]`
  allowSupported(cancel, ['subscription', 'retention'], at)
  const param = `${at}[subscription]`
  const subscription = getNamed(deps, 'subscription', text(cancel, 'subscription'), param)
  const { id } = subscription
  if (subscription.customer !== customer) throw badReference('subscription', id, param)
  if (hasEnded(subscription) || subscription.cancel_at_period_end)
    throw badParameter(param, `The subscription '${id}' has ended or is about to end.`)
  const retention = readRetention(deps, cancel, at)
  return { ...flow, subscription_cancel: { subscription: id, retention } }
}

function readAfterCompletion(data: Form): Stripe.BillingPortal.Session.Flow.AfterCompletion {
  const completion = group(data, 'after_completion')
  allowSupported(completion, ['type', 'redirect'], 'flow_data[after_completion]')
  const return_url = text(group(completion, 'redirect'), 'return_url')
  return { hosted_confirmation: null, redirect: { return_url }, type: 'redirect' }
}

function readRetention(deps: ProcessorDeps, given: Form, at: string) {
  if (given.retention === undefined) return null
  const retention = group(given, 'retention')
  if (text(retention, 'type') !== 'coupon_offer')
    throw badParameter(`${at}[retention][type]`, 'Invalid type: must be coupon_offer')
  const coupon = text(group(retention, 'coupon_offer'), 'coupon')
  const param = `${at}[retention][coupon_offer][coupon]`
  const { valid } = getNamed(deps, 'coupon', coupon, param)
  // A deleted coupon stays stored for the subscriptions that have it.
  if (!valid) throw badReference('coupon', coupon, param)
  return { type: 'coupon_offer' as const, coupon_offer: { coupon } }
}
