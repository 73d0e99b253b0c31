/** Security headers of every reply. A handler that needs others sets its own afterwards. */
import type { FastifyReply } from 'fastify'

/** For data: nothing in it may run, load or frame. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"

/**
 * For our pages: our own files alone. Styles may be inline because Mantine writes them so. Pictures
 * load from this origin and the sign-in providers: a page allowed to load from any address could be
 * made to send data there.
 */
export const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: https://lh3.googleusercontent.com https://avatars.githubusercontent.com",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Headers of pages besides their policy; on data they have no effect, and every line adds to each
 * small reply.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

export function securityHeaders({ https }: { https: boolean }) {
  return (reply: FastifyReply) => {
    reply.header('content-security-policy', DATA_POLICY).header('x-content-type-options', 'nosniff')
    if (https) reply.header('strict-transport-security', 'max-age=31536000; includeSubDomains')
  }
}

/**
 * Addresses that carry a token in their query (mailed links) must not travel on to other sites as a
 * referrer.
 */
export function pageHeaders(reply: FastifyReply): FastifyReply {
  return reply
    .headers(PAGE_HEADERS)
    .header('content-security-policy', PAGE_POLICY)
    .header('referrer-policy', 'same-origin')
}
