import type {} from '@fastify/swagger'
import type {} from '#platform/http/bodies.ts'
/** Every route of the sandbox is open and uncounted; guard.ts decides which clients may connect. */
export const OPEN = {
  config: { access: 'anyone', limit: 'none', bodies: 'uncounted' },
  schema: { hide: true },
} as const
