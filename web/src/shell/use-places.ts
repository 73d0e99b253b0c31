import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/queries.ts'
import type { Entitlement, User } from '../api/types.ts'
import { PLACES, type Place } from './navigation.ts'

const BUILDS: readonly Entitlement[] = ['api_keys', 'ai']

/**
 * Returns the places that the user may enter. Build also shows when another plan would grant it,
 * so that developers find what they could buy.
 */
export function usePlaces(user: User | undefined): readonly Place[] {
  const isBuilder = hasAny(user?.entitlements)
  const plans = useQuery({ ...plansQuery, enabled: user !== undefined && !isBuilder })
  const canBuild = isBuilder || plans.data?.plans.some(({ grants }) => hasAny(grants))
  return PLACES.filter(({ name }) => {
    if (name === 'build') return canBuild
    if (name === 'run') return user?.is_superuser === true
    return true
  })
}

function hasAny(grants: readonly Entitlement[] | undefined): boolean {
  return BUILDS.some((one) => grants?.includes(one))
}
