/**
 * A path of this app to go to after sign-in, or the dashboard. Anything that could lead elsewhere (another host, a
 * scheme, a backslash that browsers read as a slash, control characters) is refused: `redirect` comes from the address, so from anyone.
 */
export function parseReturnPath(path: string | undefined): string {
  if (!path?.startsWith('/') || /^\/[/\\]/.test(path) || /[\\\p{Cc}]/u.test(path))
    return '/dashboard'
  return path
}
