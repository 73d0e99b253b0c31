/** People who pay. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { emit } from './events.ts'
import { badParameter, missing } from './fault.ts'
import { all, get, must, newId, put } from './objects.ts'
import { mergeMetadata, optionalText } from './parameters.ts'
import { cancelNow } from './subscriptions.ts'
import { seconds, type World } from './world.ts'

export function createCustomer(world: World, form: Form): Stripe.Customer {
  const email = optionalText(form, 'email')
  if (email && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw badParameter('email', `Invalid email address: ${email}`, 'email_invalid')
  const customer: Stripe.Customer = {
    id: newId('cus'),
    object: 'customer',
    address: null,
    balance: 0,
    created: seconds(world),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: optionalText(form, 'description'),
    discount: null,
    email,
    invoice_prefix: newId('x').slice(2, 10).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: mergeMetadata({}, form.metadata),
    name: optionalText(form, 'name'),
    next_invoice_sequence: 1,
    phone: optionalText(form, 'phone'),
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  }
  put(world.db, customer, { owner: customer.id })
  emit(world, 'customer.created', customer)
  return customer
}

export function updateCustomer(world: World, id: string, form: Form): Stripe.Customer {
  const before = must<Stripe.Customer>(world.db, 'customer', id)
  if (before.deleted as unknown) throw missing('customer', id)
  const customer: Stripe.Customer = {
    ...before,
    email: optionalText(form, 'email', before.email),
    name: optionalText(form, 'name', before.name ?? null),
    phone: optionalText(form, 'phone', before.phone ?? null),
    description: optionalText(form, 'description', before.description),
    metadata: mergeMetadata(before.metadata, form.metadata),
  }
  put(world.db, customer)
  emit(world, 'customer.updated', customer, { email: before.email, name: before.name })
  return customer
}

/** Live subscriptions end with their customer, as at the real processor. */
export function deleteCustomer(world: World, id: string): { id: string; object: 'customer'; deleted: true } {
  const customer = must<Stripe.Customer>(world.db, 'customer', id)
  for (const subscription of all<Stripe.Subscription>(world.db, 'subscription', id)) {
    if (subscription.status !== 'canceled') cancelNow(world, subscription.id)
  }
  const gone = { id, object: 'customer', deleted: true } as const
  put(world.db, gone)
  emit(world, 'customer.deleted', customer)
  return gone
}

export function setDefaultMethod(world: World, customerId: string, method: Stripe.PaymentMethod): void {
  const customer = must<Stripe.Customer>(world.db, 'customer', customerId)
  const before = customer.invoice_settings
  put(world.db, { ...customer, invoice_settings: { ...before, default_payment_method: method.id } })
  put(world.db, { ...method, customer: customerId }, { owner: customerId })
  for (const subscription of all<Stripe.Subscription>(world.db, 'subscription', customerId)) {
    if (subscription.status !== 'canceled') put(world.db, { ...subscription, default_payment_method: method.id })
  }
  emit(world, 'customer.updated', must<Stripe.Customer>(world.db, 'customer', customerId), { invoice_settings: before })
}

export function defaultMethod(world: Pick<World, 'db'>, customerId: string): Stripe.PaymentMethod | undefined {
  const customer = get<Stripe.Customer>(world.db, customerId)
  const id = customer?.invoice_settings?.default_payment_method
  return typeof id === 'string' ? get<Stripe.PaymentMethod>(world.db, id) : undefined
}
