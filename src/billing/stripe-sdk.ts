import type { Stripe } from 'stripe'
import { lazily } from '#platform/lazy.ts'

/** The official SDK: 200 files and 30 MB, which a service that has no customer yet does without. */
export const stripeSdk = lazily<typeof Stripe>('stripe')
