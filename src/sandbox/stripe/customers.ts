/** The processor's customers. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit, save } from './events.ts'
import { badParameter, missingObject } from './fault.ts'
import { all, getExisting, newId, put } from './objects.ts'
import { allowSupported, mergeMetadata, optionalText, text } from './parameters.ts'
import { cancelNow } from './subscriptions.ts'

const FIELDS = ['email', 'name', 'metadata']

export function createCustomer(deps: ProcessorDeps, form: Form): Stripe.Customer {
  allowSupported(form, FIELDS)
  const email = optionalText(form, 'email')
  if (email && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw badParameter('email', `Invalid email address: ${email}`, 'email_invalid')
  const customer: Stripe.Customer = {
    id: newId('cus'),
    ...blank('customer'),
    balance: 0,
    created: seconds(deps),
    delinquent: false,
    email,
    invoice_prefix: newId('x').slice(2, 10).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    metadata: mergeMetadata({}, form.metadata),
    name: optionalText(form, 'name'),
    next_invoice_sequence: 1,
    preferred_locales: [],
    tax_exempt: 'none',
  }
  return save(deps, 'customer.created', customer, { owner: customer.id })
}

export function updateCustomer(deps: ProcessorDeps, id: string, form: Form): Stripe.Customer {
  allowSupported(form, FIELDS)
  const before = getExisting(deps, 'customer', id)
  if (before.deleted as unknown) throw missingObject('customer', id)
  return put<Stripe.Customer>(deps, {
    ...before,
    email: optionalText(form, 'email', before.email),
    name: optionalText(form, 'name', before.name ?? null),
    metadata: mergeMetadata(before.metadata, form.metadata),
  })
}

/** Stored as sent: the sandbox does not verify the number. */
export function createTaxId(deps: ProcessorDeps, customerId: string, form: Form): Stripe.TaxId {
  allowSupported(form, ['type', 'value'])
  const customer = getExisting(deps, 'customer', customerId)
  const taxId: Stripe.TaxId = {
    id: newId('txi'),
    object: 'tax_id',
    country: text(form, 'value').slice(0, 2).toUpperCase(),
    created: seconds(deps),
    customer: customer.id,
    customer_account: null,
    livemode: false,
    owner: { customer: customer.id, customer_account: null, type: 'customer' },
    type: text(form, 'type') as Stripe.TaxId.Type,
    value: text(form, 'value'),
    verification: { status: 'unavailable', verified_address: null, verified_name: null },
  }
  return put(deps, taxId, { owner: customer.id })
}

/** Live subscriptions end with their customer, as at the real processor. */
export function deleteCustomer(deps: ProcessorDeps, id: string) {
  const customer = getExisting(deps, 'customer', id)
  for (const subscription of all(deps, 'subscription', id)) {
    if (subscription.status !== 'canceled') cancelNow(deps, subscription.id)
  }
  emit(deps, 'customer.deleted', customer)
  return put(deps, { id, object: 'customer', deleted: true } as const)
}
