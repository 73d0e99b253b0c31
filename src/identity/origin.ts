import type { FastifyRequest } from 'fastify'
import type { Origin } from './sessions/sessions.ts'

export function originOf(request: FastifyRequest): Origin & { address: string } {
  return { userAgent: request.headers['user-agent'] ?? null, address: request.ip }
}
