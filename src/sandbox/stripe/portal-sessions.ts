/** Customer portal sessions: an address that opens the pages of one customer, or one thing to do there (a flow). */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { badParameter, missing } from './fault.ts'
import { mustParam, newId, put } from './objects.ts'
import { group, groups, integer, optionalText, played, text } from './parameters.ts'
import { isOver } from './subscriptions.ts'

const CONFIGURATION = 'bpc_sandbox'
const FLOWS = [
  'payment_method_update',
  'subscription_cancel',
  'subscription_pause',
  'subscription_update',
  'subscription_update_confirm',
]

export function createPortalSession(
  deps: ProcessorDeps,
  form: Form,
  origin: string,
): Stripe.BillingPortal.Session {
  played(form, ['customer', 'return_url', 'configuration', 'locale', 'flow_data'])
  const customer = mustParam<Stripe.Customer>(
    deps.db,
    'customer',
    text(form, 'customer'),
    'customer',
  )
  if (customer.deleted as unknown)
    throw badParameter('customer', `No such customer: '${customer.id}'`, 'resource_missing')
  const configuration = optionalText(form, 'configuration') ?? CONFIGURATION
  if (configuration !== CONFIGURATION)
    throw missing('configuration', configuration, 'configuration')
  const id = newId('bps')
  const flow = flowIn(deps, form, customer.id)
  const session: Stripe.BillingPortal.Session = {
    id,
    ...blank('billing_portal.session'),
    configuration,
    created: seconds(deps),
    customer: customer.id,
    flow,
    locale: optionalText(form, 'locale'),
    return_url: optionalText(form, 'return_url'),
    url: `${origin}/sandbox/portal/${id}${flow ? '/flow' : ''}`,
  }
  return put(deps.db, session, { owner: customer.id })
}

function flowIn(
  deps: ProcessorDeps,
  form: Form,
  customer: string,
): Stripe.BillingPortal.Session.Flow | null {
  if (form.flow_data === undefined) return null
  const data = group(form, 'flow_data')
  const type = text(data, 'type')
  if (!FLOWS.includes(type))
    throw badParameter('flow_data[type]', `The sandbox plays ${FLOWS.join(', ')}.`)
  played(data, ['type', 'after_completion', type], 'flow_data')
  const flow: Stripe.BillingPortal.Session.Flow = {
    after_completion: afterCompletion(data),
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update: null,
    subscription_update_confirm: null,
    type,
  }
  if (type === 'payment_method_update') return flow

  const given = group(data, type)
  const at = `flow_data[${type}]`
  const param = `${at}[subscription]`
  const { id: subscription, ...found } = mustParam<Stripe.Subscription>(
    deps.db,
    'subscription',
    text(given, 'subscription'),
    param,
  )
  if (found.customer !== customer)
    throw badParameter(param, `No such subscription: '${subscription}'`, 'resource_missing')
  if (
    isOver(found as Stripe.Subscription) ||
    (type === 'subscription_cancel' && found.cancel_at_period_end)
  )
    throw badParameter(param, `This subscription cannot be changed: it has ended, or is set to.`)
  if (type === 'subscription_cancel') {
    played(given, ['subscription', 'retention'], at)
    return {
      ...flow,
      subscription_cancel: { subscription, retention: retentionIn(deps, given, at) },
    }
  }
  if (type === 'subscription_update_confirm') {
    played(given, ['subscription', 'items'], at)
    const items = groups(given, 'items').map((one) => ({
      id: text(one, 'id'),
      price: mustParam<Stripe.Price>(deps.db, 'price', text(one, 'price'), `${at}[items][0][price]`)
        .id,
      quantity: integer(one, 'quantity') ?? 1,
    }))
    return { ...flow, subscription_update_confirm: { subscription, items, discounts: null } }
  }
  played(given, ['subscription'], at)
  return { ...flow, [type]: { subscription } }
}

function afterCompletion(data: Form): Stripe.BillingPortal.Session.Flow.AfterCompletion {
  const given = group(data, 'after_completion')
  played(given, ['type', 'redirect', 'hosted_confirmation'], 'flow_data[after_completion]')
  const type = optionalText(given, 'type') ?? 'portal_homepage'
  const returnUrl = optionalText(group(given, 'redirect'), 'return_url')
  if (type === 'redirect' && !/^https?:\/\//.test(returnUrl ?? ''))
    throw badParameter(
      'flow_data[after_completion][redirect][return_url]',
      `Invalid URL: ${returnUrl}`,
      'url_invalid',
    )
  const message = optionalText(group(given, 'hosted_confirmation'), 'custom_message')
  return {
    hosted_confirmation: type === 'hosted_confirmation' ? { custom_message: message } : null,
    redirect: type === 'redirect' ? { return_url: returnUrl ?? '' } : null,
    type,
  }
}

function retentionIn(deps: ProcessorDeps, given: Form, at: string) {
  if (given.retention === undefined) return null
  const retention = group(given, 'retention')
  if (text(retention, 'type') !== 'coupon_offer')
    throw badParameter(`${at}[retention][type]`, 'Invalid type: must be coupon_offer')
  const coupon = text(group(retention, 'coupon_offer'), 'coupon')
  const param = `${at}[retention][coupon_offer][coupon]`
  const { valid } = mustParam<Stripe.Coupon>(deps.db, 'coupon', coupon, param)
  // A deleted coupon is kept for the subscriptions that have it.
  if (!valid) throw badParameter(param, `No such coupon: '${coupon}'`, 'resource_missing')
  return { type: 'coupon_offer' as const, coupon_offer: { coupon } }
}
