import type {} from '@fastify/swagger'
import type {} from '#platform/http/bodies.ts'
/** The sandbox's routes need no sign-in and have no rate limit. guard.ts restricts the clients. */
export const OPEN = {
  config: { access: 'anyone', limit: 'none', bodies: 'uncounted' },
  schema: { hide: true },
} as const
