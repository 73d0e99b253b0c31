/**
 * Returns a path of this app for after the sign-in, or the dashboard. `redirect` comes from the
 * address, so from anyone: other hosts, schemes, backslashes (browsers read them as slashes) and
 * control characters are rejected.
 */
export function parseReturnPath(path: string | undefined): string {
  if (!path?.startsWith('/') || /^\/[/\\]/.test(path) || /[\\\p{Cc}]/u.test(path)) return '/home'
  return path
}
