// Restricts the sandbox to users of this machine, because it exposes emails and payments without
// credentials. Both the peer's address and the Host must be loopback, which prevents DNS rebinding.
// After a browser's request through a proxy on this machine, the sandbox is closed until the next
// start.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { isLoopbackHost, isOfThisMachine, isRenamed } from '#platform/http/loopback.ts'
import { apiErrors, replyWithError } from '#platform/http/replies.ts'
import type { Problem } from '#platform/problem.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { sandboxProblem } from './problems.ts'

/** `open` (SANDBOX=on) accepts other hosts, for demonstrations in a private network. */
export function createGuard({ open, log }: { open: boolean; log: Log }) {
  let isClosed = false

  return {
    /** An onRequest hook for all routes of the service: any of them can reveal a proxy. */
    watch(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
      if (!isClosed && isRenamed(request) && isOfThisMachine(request)) {
        isClosed = true
        const { host, origin, referer } = request.headers
        log.error({ host, origin, referer }, sandboxProblem('sandbox_closed').message)
      }
      done()
    },

    /** An onRequest hook for the sandbox's routes. */
    async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      // Replies here, because the processor's error handler would use the processor's format.
      const refuse = (problem: Problem) => replyWithError(apiErrors, problem, request, reply)
      if (isClosed) return refuse(sandboxProblem('sandbox_closed'))
      if (!open && !(isOfThisMachine(request) && isLoopbackHost(request.headers.host))) {
        return refuse(sandboxProblem('sandbox_local_only'))
      }
      // A form on another site could trigger the sandbox's actions. Browsers send the request's
      // origin.
      if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
        return refuse(sandboxProblem('sandbox_cross_site'))
      }
    },
  }
}
