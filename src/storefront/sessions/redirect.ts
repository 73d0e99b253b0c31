/** Returns the target if it is a path of this server; otherwise `/dashboard`. */
export function safeRedirect(target: string | undefined): string {
  if (!target || target.length > 2000) return HOME
  // Browsers read a backslash as a slash and drop tabs and line breaks: `/\evil.example` would
  // leave.
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(target) || target.includes('\\')) return HOME
  const url = new URL(target, 'http://storefront.invalid')
  if (url.host !== 'storefront.invalid' || url.pathname.startsWith('//')) return HOME
  if (url.pathname === '/login' || url.pathname === '/logout') return HOME
  return url.pathname + url.search + url.hash
}

const HOME = '/dashboard'

/**
 * The `redirect` parameter of the login's address. The target is not encoded there
 * (`/login?redirect=/api/checkout?tier=pro`), so everything after it belongs to it; an encoded one
 * is accepted too.
 */
export function parseRedirect(url: string): string | undefined {
  const found = /[?&]redirect=(.*)$/.exec(url)?.[1]
  if (found === undefined) return undefined
  // Encoded, its own `&` and `?` are hidden, and what follows the next `&` is another parameter.
  const value = found.startsWith('%2F') || found.startsWith('%2f') ? found.split('&')[0] : found
  try {
    return decodeURIComponent(value ?? '')
  } catch {
    return undefined
  }
}
