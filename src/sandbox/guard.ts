// Guards the sandbox against everyone but the person at this machine: it hands out mail and money to whoever asks.
// One thing to know: both the peer's address and the Host must be loopback, so a hostile page cannot reach it by rebinding a name;
// and once a browser has come through a proxy on this machine, it is closed to all until the next start.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { isLoopbackHost, isOfThisMachine, isRenamed } from '#platform/http/loopback.ts'
import type { Log } from '#platform/telemetry/log.ts'

const CLOSED =
  'The sandbox is closed: a proxy on this machine passes on what others ask. Set BASE_URL to the public address, or NODE_ENV=production, and start anew.'

/** `open` (SANDBOX=on) lets other hosts in, for a demonstration on a network of one's own. */
export function createGuard({ open, log }: { open: boolean; log: Log }) {
  let isClosed = false

  return {
    /** An onRequest hook for all routes of the service: a proxy shows itself at any of them. */
    watch(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
      if (!isClosed && isRenamed(request) && isOfThisMachine(request)) {
        isClosed = true
        const { host, origin, referer } = request.headers
        log.error({ host, origin, referer }, CLOSED)
      }
      done()
    },

    /** An onRequest hook for the sandbox's own. */
    async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (isClosed) return reply.code(403).send({ detail: CLOSED })
      if (!open && !(isOfThisMachine(request) && isLoopbackHost(request.headers.host))) {
        return reply.code(403).send({ detail: 'The sandbox answers this machine only. SANDBOX=on opens it to others.' })
      }
      // A form on a foreign page could press the sandbox's buttons; browsers say where a request came from.
      if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
        return reply.code(403).send({ detail: 'The sandbox takes no forms from other sites.' })
      }
    },
  }
}
