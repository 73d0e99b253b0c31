import type { Caller, Entitlements } from '#platform/http/access-control.ts'
import type { Problem } from '#platform/problem.ts'
import { type Catalogue, type Entitlement, findGrants, findPlanNames } from './catalogue.ts'
import { catalogueProblem } from './problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The feature that the caller's plan must grant. Calls with an API key also require the grant
     * `api_keys`.
     */
    needs?: Entitlement
  }
}

/** Compares the features that routes need with the grants of the catalogue's plans. */
export function createEntitlements(
  catalogue: Catalogue,
  { requireVerifiedEmail = false }: { requireVerifiedEmail?: boolean } = {},
): Entitlements {
  return {
    require({ tier, keyId, isVerified }: Caller, { needs }) {
      if (!needs) return
      const granted = findGrants(catalogue, tier)
      if (!granted.includes(needs)) throw notGranted(catalogue, needs, 'This feature')
      // Otherwise a key from an earlier plan would bypass the current one.
      if (keyId !== null && !granted.includes('api_keys'))
        throw notGranted(catalogue, 'api_keys', 'Calling with an API key')
      // Routes that cost the operator money require a verified address.
      if (requireVerifiedEmail && !isVerified) throw catalogueProblem('email_not_verified')
    },
    describe: ({ needs }) =>
      needs ? `${findPlanNames(catalogue, needs, 'and') ?? 'No plan'} only.` : null,
  }
}

/**
 * Names the plans of the catalogue, as in `This feature requires a Pro or Enterprise subscription`.
 */
function notGranted(catalogue: Catalogue, entitlement: Entitlement, what: string): Problem {
  const names = findPlanNames(catalogue, entitlement, 'or')
  const article = /^[aeiou]/i.test(names ?? '') ? 'an' : 'a'
  const requirement =
    names === null ? 'is part of no plan' : `requires ${article} ${names} subscription`
  return catalogueProblem('paid_tier_needed', { what, requirement })
}
