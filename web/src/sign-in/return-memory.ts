import { returnPath } from '../session/return-path.ts'

const KEY = 'latchkey.return'

// The way through an OAuth provider keeps no parameters of ours, so where to go afterwards waits in this tab.

export function rememberReturn(path: string | undefined) {
  if (path === undefined) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, path)
}

export function takeReturn(): string {
  const path = sessionStorage.getItem(KEY) ?? undefined
  sessionStorage.removeItem(KEY)
  return returnPath(path)
}
