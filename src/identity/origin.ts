import type { FastifyRequest } from 'fastify'

/**
 * Where a request comes from. `device`: the browser, by the id that its cookie holds; see
 * `sign-in/device-cookie.ts`.
 */
export type Origin = { userAgent: string | null; address: string | null; device?: string }

export function readOrigin(request: FastifyRequest): Origin & { address: string } {
  return { userAgent: request.headers['user-agent'] ?? null, address: request.ip }
}
