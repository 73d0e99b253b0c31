/** Selects the payment method of a charge without the customer's presence. */
import type { Stripe } from 'stripe'
import { cardByNumber, keepMethod } from './cards.ts'
import type { Db, ProcessorDeps } from './deps.ts'
import { emit } from './events.ts'
import { all, get, getExisting, put } from './objects.ts'

export function setDefaultMethod(
  deps: ProcessorDeps,
  customerId: string,
  method: Stripe.PaymentMethod,
): void {
  const customer = getExisting(deps, 'customer', customerId)
  const before = customer.invoice_settings
  put(deps, { ...customer, invoice_settings: { ...before, default_payment_method: method.id } })
  put(deps, { ...method, customer: customerId }, { owner: customerId })
  for (const subscription of all(deps, 'subscription', customerId)) {
    if (subscription.status === 'canceled' || subscription.default_payment_method === method.id)
      continue
    const changed = put(deps, { ...subscription, default_payment_method: method.id })
    emit(deps, 'customer.subscription.updated', changed, {
      default_payment_method: subscription.default_payment_method,
    })
  }
}

/** Replaces the card on file. Returns the reason when it is declined, otherwise null. */
export function changeCard(deps: ProcessorDeps, customerId: string, number: string): string | null {
  const card = cardByNumber(number)
  if (card?.kind !== 'card' || card.first.at === 'never')
    return 'That card was refused; the old one stays.'
  const { name = null, email } = getExisting(deps, 'customer', customerId)
  setDefaultMethod(deps, customerId, keepMethod(deps, card, customerId, { name, email }))
  return null
}

export function defaultMethod(deps: Db, customerId: string): Stripe.PaymentMethod | undefined {
  const customer = get<Stripe.Customer>(deps, customerId)
  const id = customer?.invoice_settings?.default_payment_method
  return typeof id === 'string' ? get<Stripe.PaymentMethod>(deps, id) : undefined
}

export function findMethod(
  deps: Db,
  subscription: Stripe.Subscription,
): Stripe.PaymentMethod | undefined {
  const id = subscription.default_payment_method
  return (
    (typeof id === 'string' && get<Stripe.PaymentMethod>(deps, id)) ||
    defaultMethod(deps, String(subscription.customer))
  )
}
