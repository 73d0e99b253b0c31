import { api } from '../api/client.ts'

// Both lead away from this app; the processor brings the person back to the dashboard or to the prices.

export async function openCheckout(priceId: string): Promise<void> {
  const { url } = await api.post('/api/billing/create-checkout-session', undefined, {
    query: { price_id: priceId },
  })
  location.assign(url)
}

export async function openPortal(): Promise<void> {
  const { url } = await api.post('/api/billing/create-portal-session')
  location.assign(url)
}
