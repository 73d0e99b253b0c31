import type {} from '@fastify/swagger'
/** Every route of the sandbox is open and uncounted: who may come at all is decided at its gate (guard.ts). */
export const OPEN = { config: { access: 'anyone', limit: 'none' }, schema: { hide: true } } as const
