import type { Stripe } from 'stripe'
import { lazyRequire } from '#platform/lazy-require.ts'

/** The official SDK: 200 files and 30 MB, which a service that has no customer yet does without. */
export const stripeSdk = lazyRequire<typeof Stripe>('stripe')
