/** Security headers of every reply. A handler that needs others sets its own afterwards. */
import type { FastifyReply } from 'fastify'

/** The policy of data replies: no scripts, no loading, no framing. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"

/**
 * The policy of pages: only files of this origin. Inline styles are allowed because Mantine needs
 * them. Pictures load from this origin and the sign-in providers: a page allowed to load from any
 * address could be made to send data there.
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
 * Headers of pages in addition to their policy. Data replies omit them: they have no effect there
 * and would enlarge every small reply.
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
 * Adds the headers of a page. The referrer policy prevents links with a token in their query from
 * reaching other sites.
 */
export function pageHeaders(reply: FastifyReply): FastifyReply {
  return reply
    .headers(PAGE_HEADERS)
    .header('content-security-policy', PAGE_POLICY)
    .header('referrer-policy', 'same-origin')
}
