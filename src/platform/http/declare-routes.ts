import type { FastifySchema } from 'fastify'
import type { RoutePolicy } from './access-control.ts'

/**
 * Returns a function that declares routes with this tag and policy: by operation id, summary,
 * schemas, and what differs in the policy.
 */
export function declareRoutes(tag: string, policy: RoutePolicy) {
  return <const S extends FastifySchema>(
    operationId: string,
    summary: string,
    schema: S,
    differing: RoutePolicy = {},
  ) => ({
    schema: { operationId, tags: [tag], summary, ...schema },
    config: { ...policy, ...differing },
  })
}
