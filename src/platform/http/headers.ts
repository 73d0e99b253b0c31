// Guards browsers: what every reply says about itself. A handler that needs other terms sets its own header afterwards.
import type { FastifyReply } from 'fastify'

/** For data: nothing in it may run, load or frame. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"

/** For our pages: our own files alone; styles may be inline because Mantine writes them so. */
export const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: https:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function securityHeaders({ https }: { https: boolean }) {
  const headers: Record<string, string> = {
    'content-security-policy': DATA_POLICY,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    ...(https ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  }
  return (reply: FastifyReply) => reply.headers(headers)
}

/** Addresses that carry a token in their query (mailed links) must not travel on as a referrer. */
export function pageHeaders(reply: FastifyReply): FastifyReply {
  return reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'no-referrer')
}
