// Access to the sandbox: only for the person at this machine, since it hands out mail and money
// without credentials. Both the peer's address and the Host must be loopback, so that a hostile
// page cannot reach it by rebinding a name. Once a browser has come through a proxy on this
// machine, the sandbox is closed to all until the next start.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { isLoopbackHost, isOfThisMachine, isRenamed } from '#platform/http/loopback.ts'
import { apiErrors, replyWithError } from '#platform/http/replies.ts'
import type { Problem } from '#platform/problem.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { sandboxProblem } from './problems.ts'

/** `open` (SANDBOX=on) admits other hosts, for a demonstration in a private network. */
export function createGuard({ open, log }: { open: boolean; log: Log }) {
  let isClosed = false

  return {
    /** An onRequest hook for all routes of the service: a proxy shows itself at any of them. */
    watch(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
      if (!isClosed && isRenamed(request) && isOfThisMachine(request)) {
        isClosed = true
        const { host, origin, referer } = request.headers
        log.error({ host, origin, referer }, sandboxProblem('sandbox_closed').message)
      }
      done()
    },

    /** An onRequest hook for the sandbox's own. */
    async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      // Replied here, because inside the processor's scope the error would have the processor's
      // format.
      const refuse = (problem: Problem) => replyWithError(apiErrors, problem, request, reply)
      if (isClosed) return refuse(sandboxProblem('sandbox_closed'))
      if (!open && !(isOfThisMachine(request) && isLoopbackHost(request.headers.host))) {
        return refuse(sandboxProblem('sandbox_local_only'))
      }
      // A form on a foreign page could press the sandbox's buttons; browsers say where a request
      // came from.
      if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
        return refuse(sandboxProblem('sandbox_cross_site'))
      }
    },
  }
}
