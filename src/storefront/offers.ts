import type { ProductTier } from './products/releases.ts'

export interface Offer {
  name: string
  priceUsd: number
  /** One sentence: for whom it is. */
  pitch: string
  /** Each tier holds the one before it. */
  includes: string | null
  features: string[]
}

export const OFFERS: Record<ProductTier, Offer> = {
  basic: {
    name: 'Basic',
    priceUsd: 199,
    pitch: 'Start with accounts, payments and deployment already done.',
    includes: null,
    features: ['FastAPI and Next.js boilerplate', 'JWT auth', 'OAuth', 'Subscriptions', 'Docker', 'CI/CD'],
  },
  pro: {
    name: 'Pro',
    priceUsd: 299,
    pitch: 'For products that answer from their users’ own documents.',
    includes: 'Everything in Basic',
    features: ['RAG pipeline', 'Streaming chat', 'Admin dashboard', 'API keys'],
  },
  enterprise: {
    name: 'Enterprise',
    priceUsd: 499,
    pitch: 'For teams that serve many organisations.',
    includes: 'Everything in Pro',
    features: ['Fine-tuning scripts', 'Multi-tenancy', 'Usage-based billing'],
  },
}
