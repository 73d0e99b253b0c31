import type { FastifyRequest } from 'fastify'

/** Where a request comes from. */
export type Origin = { userAgent: string | null; address: string | null }

export function originOf(request: FastifyRequest): Origin & { address: string } {
  return { userAgent: request.headers['user-agent'] ?? null, address: request.ip }
}
