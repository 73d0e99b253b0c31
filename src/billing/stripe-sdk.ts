import type { Stripe } from 'stripe'
import { lazyRequire } from '#platform/lazy-require.ts'

/** The official SDK: 200 files and 30 MB, loaded on first use only. */
export const stripeSdk = lazyRequire<typeof Stripe>('stripe')
