import { createContext, use } from 'react'
import type { User } from '../api/types.ts'

export const UserContext = createContext<User | null>(null)

/** The signed-in user. Only inside the app's shell, which shows nothing of a page before it knows who asks. */
export function useUser(): User {
  const user = use(UserContext)
  if (!user) throw new Error('useUser outside the app shell')
  return user
}
