/** The checkout's texts about taxes, invoices and consent. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import type { ProcessorDeps } from './deps.ts'
import { badParameter } from './fault.ts'
import { get } from './objects.ts'
import { allowSupported, flag, group, mergeMetadata, optionalText } from './parameters.ts'
import { type TaxTerms, taxTerms } from './tax.ts'

type Sold = {
  mode: 'payment' | 'subscription'
  customer: string | null
  lines: readonly { price: Stripe.Price }[]
}
type Shown = Pick<
  Stripe.Checkout.Session,
  | 'automatic_tax'
  | 'consent_collection'
  | 'custom_text'
  | 'invoice_creation'
  | 'managed_payments'
  | 'tax_id_collection'
>

export function readTerms(
  deps: ProcessorDeps,
  form: Form,
  sold: Sold,
): { shown: Shown; tax: TaxTerms | null } {
  const managed = flag(group(form, 'managed_payments'), 'enabled')
  const hasTax = flag(group(form, 'automatic_tax'), 'enabled')
  allowSupported(group(form, 'automatic_tax'), ['enabled'], 'automatic_tax')
  allowSupported(group(form, 'managed_payments'), ['enabled'], 'managed_payments')
  if (managed) checkManagedPayments(deps, form, sold)
  const collectsIds = flag(group(form, 'tax_id_collection'), 'enabled')
  allowSupported(group(form, 'tax_id_collection'), ['enabled'], 'tax_id_collection')
  checkCustomerUpdate(form, sold, collectsIds)

  const shown: Shown = {
    automatic_tax:
      managed || hasTax
        ? { enabled: true, liability: { type: 'self' }, provider: 'stripe', status: 'complete' }
        : { enabled: false, liability: null, provider: null, status: null },
    consent_collection: readConsent(form),
    custom_text: readCustomTexts(form),
    invoice_creation: sold.mode === 'payment' ? readInvoiceCreation(form) : null,
    managed_payments: managed ? { enabled: true } : null,
    tax_id_collection: { enabled: managed || collectsIds, required: 'never' },
  }
  return { shown, tax: taxTerms(deps, managed || hasTax, sold.customer) }
}

/** The merchant of record sets these itself. */
function checkManagedPayments(deps: ProcessorDeps, form: Form, { lines }: Sold): void {
  for (const name of ['automatic_tax', 'tax_id_collection', 'invoice_creation'])
    if (form[name] !== undefined)
      throw badParameter(name, `You cannot pass ${name} when managed_payments is enabled.`)
  // The sandbox's plans have no tax codes; prices that a checkout creates must have one.
  const uncoded = lines.find(
    ({ price }) => !price.recurring && !get<Stripe.Product>(deps, String(price.product))?.tax_code,
  )
  if (uncoded)
    throw badParameter(
      'line_items[0][price_data][product_data][tax_code]',
      'Managed Payments needs an eligible tax code.',
    )
}

/** An existing customer keeps a new address or tax id only if the checkout requests that. */
function checkCustomerUpdate(form: Form, { customer }: Sold, collectsIds: boolean): void {
  const update = group(form, 'customer_update')
  allowSupported(update, ['address', 'name', 'shipping'], 'customer_update')
  if (form.customer_update !== undefined && customer === null)
    throw badParameter('customer_update', '`customer_update` can only be used with `customer`.')
  if (collectsIds && customer !== null && update.name !== 'auto')
    throw badParameter(
      'customer_update[name]',
      'Tax ID collection requires updating business name on the customer.',
    )
}

function readConsent(form: Form): Stripe.Checkout.Session.ConsentCollection | null {
  if (form.consent_collection === undefined) return null
  const consent = group(form, 'consent_collection')
  allowSupported(consent, ['terms_of_service'], 'consent_collection')
  if (optionalText(consent, 'terms_of_service') !== 'required')
    throw badParameter(
      'consent_collection[terms_of_service]',
      'The sandbox supports only `required`.',
    )
  return { payment_method_reuse_agreement: null, promotions: null, terms_of_service: 'required' }
}

function readCustomTexts(form: Form): Stripe.Checkout.Session.CustomText {
  const texts = group(form, 'custom_text')
  allowSupported(texts, ['terms_of_service_acceptance'], 'custom_text')
  const message = optionalText(group(texts, 'terms_of_service_acceptance'), 'message')
  return {
    after_submit: null,
    shipping_address: null,
    submit: null,
    terms_of_service_acceptance: message === null ? null : { message },
  }
}

function readInvoiceCreation(form: Form): Stripe.Checkout.Session.InvoiceCreation {
  const creation = group(form, 'invoice_creation')
  allowSupported(creation, ['enabled', 'invoice_data'], 'invoice_creation')
  const data = group(creation, 'invoice_data')
  allowSupported(data, ['metadata'], 'invoice_creation[invoice_data]')
  return {
    enabled: flag(creation, 'enabled'),
    invoice_data: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: null,
      metadata: mergeMetadata({}, data.metadata),
      rendering_options: null,
    },
  }
}
