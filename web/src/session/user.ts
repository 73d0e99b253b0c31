import { createContext, use } from 'react'
import type { User } from '../api/types.ts'

export const UserContext = createContext<User | null>(null)

/**
 * Returns the signed-in user. Works only inside the app's layout, which renders pages after the
 * user has loaded.
 */
export function useUser(): User {
  const user = use(UserContext)
  if (!user) throw new Error('useUser outside the app shell')
  return user
}

/** Returns false for plans that have documents without conversations. */
export function canConverse({ entitlements }: Pick<User, 'entitlements'>): boolean {
  return entitlements.includes('home') || !entitlements.includes('library')
}
