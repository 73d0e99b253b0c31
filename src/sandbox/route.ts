import type {} from '@fastify/swagger'
import type {} from '#platform/http/bodies.ts'
/** Every route of the sandbox is open and uncounted: who may come at all is decided by guard.ts. */
export const OPEN = {
  config: { access: 'anyone', limit: 'none', bodies: 'uncounted' },
  schema: { hide: true },
} as const
