import { api } from '../api/client.ts'

// These functions leave the app; the processor redirects back to it.

export async function openCheckout(priceId: string, promotionCode?: string): Promise<void> {
  const { url } = await api.post('/api/billing/create-checkout-session', undefined, {
    query: {
      price_id: priceId,
      ...(promotionCode === undefined ? {} : { promotion_code: promotionCode }),
    },
  })
  location.assign(url)
}

export async function openPortal(flow?: 'card' | 'cancel'): Promise<void> {
  const { url } = await api.post('/api/billing/create-portal-session', undefined, {
    query: flow ? { flow } : {},
  })
  location.assign(url)
}

/** Opens the page for a due payment of the plan, or of another pending checkout. */
export async function openPayment(of: 'plan' | 'checkout' = 'plan'): Promise<void> {
  const { url } = await api.post('/api/billing/create-payment-session', undefined, {
    query: { for: of },
  })
  location.assign(url)
}
