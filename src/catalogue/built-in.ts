/**
 * The default catalogue without CATALOGUE: the plans and products of the specification. The plans'
 * prices come from settings.
 */
import {
  type CatalogueProduct,
  ENTITLEMENTS,
  FREE,
  NO_PLAN_LIMITS,
  PRODUCT_DEFAULTS,
} from './catalogue.ts'
import type { CatalogueFile, FilePlan } from './read.ts'

/** The free plan of a file that does not define one. */
export const FREE_PLAN: FilePlan = {
  tier: FREE,
  name: 'Free',
  prices: null,
  grants: [],
  allowanceUsd: null,
  trialAllowanceUsd: null,
  limits: NO_PLAN_LIMITS,
  trialDays: 0,
  features: [
    'An account with two-factor sign-in and passkeys',
    'Export and deletion of your data at any time',
    'Keys and downloads of what you buy in the storefront',
  ],
}

const MEGABYTE = 1024 ** 2
const GIGABYTE = 1024 ** 3

/** The features only name functions of this service. */
const PLANS: readonly FilePlan[] = [
  {
    ...FREE_PLAN,
    grants: ['home', 'library'],
    allowanceUsd: 0.1,
    limits: {
      ...NO_PLAN_LIMITS,
      documentsMax: 3,
      charactersMax: 3_000_000,
      fileBytesMax: 100 * MEGABYTE,
    },
    features: [
      'Conversations with models',
      'Answers from 3 of your documents',
      ...FREE_PLAN.features,
    ],
  },
  {
    tier: 'pro',
    name: 'Pro',
    prices: null,
    grants: ENTITLEMENTS,
    allowanceUsd: 20,
    trialAllowanceUsd: 2,
    limits: {
      ...NO_PLAN_LIMITS,
      documentsMax: 10_000,
      charactersMax: 100_000_000,
      chunksMax: 500_000,
      fileBytesMax: 10 * GIGABYTE,
      choicesMax: 8,
    },
    trialDays: 0,
    features: [
      'Streaming answers',
      'Your own documents: search and grounded answers',
      'An OpenAI-compatible endpoint',
      'API keys with scopes, limits and an expiry of their own',
      'Usage by day, model and key',
    ],
  },
  {
    tier: 'enterprise',
    name: 'Enterprise',
    prices: null,
    grants: ENTITLEMENTS,
    allowanceUsd: 80,
    trialAllowanceUsd: 8,
    limits: {
      ...NO_PLAN_LIMITS,
      documentsMax: 100_000,
      charactersMax: 500_000_000,
      chunksMax: 2_000_000,
      fileBytesMax: 100 * GIGABYTE,
      choicesMax: 16,
    },
    trialDays: 0,
    features: ['Everything in Pro', 'Priority support'],
  },
]

const SOLD = { ...PRODUCT_DEFAULTS, currency: 'usd', images: [], taxCode: null }

const PRODUCTS: readonly CatalogueProduct[] = [
  {
    ...SOLD,
    tier: 'basic',
    slug: 'basic',
    name: 'Basic',
    price: 199,
    description: 'Start with accounts, payments and deployment already done.',
    includes: null,
    features: [
      'FastAPI and Next.js boilerplate',
      'JWT auth',
      'OAuth',
      'Subscriptions',
      'Docker',
      'CI/CD',
    ],
  },
  {
    ...SOLD,
    tier: 'pro',
    slug: 'pro',
    upgradeFrom: { basic: 'difference' },
    name: 'Pro',
    price: 299,
    description: 'For products that answer from their users’ own documents.',
    includes: 'Everything in Basic',
    features: ['RAG pipeline', 'Streaming chat', 'Admin dashboard', 'API keys'],
  },
  {
    ...SOLD,
    tier: 'enterprise',
    slug: 'enterprise',
    upgradeFrom: { basic: 'difference', pro: 'difference' },
    name: 'Enterprise',
    price: 499,
    description: 'For teams that serve many organisations.',
    includes: 'Everything in Pro',
    features: ['Fine-tuning scripts', 'Multi-tenancy', 'Usage-based billing'],
  },
]

export const BUILT_IN: CatalogueFile = { plans: PLANS, products: PRODUCTS }
