// Guards the sandbox against everyone but the person at this machine: it hands out mail and money to whoever asks.
// One thing to know: both the peer's address and the Host must be loopback, so a hostile page cannot reach it by rebinding a name.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopbackHost, isOfThisMachine } from '#platform/http/loopback.ts'

/** `open` (SANDBOX=on) lets other hosts in, for a demonstration on a network of one's own. */
export function loopbackOnly(open: boolean) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!open && !(isOfThisMachine(request) && isLoopbackHost(request.headers.host))) {
      return reply.code(403).send({ detail: 'The sandbox answers this machine only. SANDBOX=on opens it to others.' })
    }
    // A form on a foreign page could press the sandbox's buttons; browsers say where a request came from.
    if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
      return reply.code(403).send({ detail: 'The sandbox takes no forms from other sites.' })
    }
  }
}
