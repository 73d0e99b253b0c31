import type { FastifyRequest } from 'fastify'

/**
 * The origin of a request. `device`: the browser's id from its cookie; see
 * `sign-in/device-cookie.ts`.
 */
export type Origin = { userAgent: string | null; address: string | null; device?: string }

export function readOrigin(request: FastifyRequest): Origin & { address: string } {
  return { userAgent: request.headers['user-agent'] ?? null, address: request.ip }
}
