/**
 * Detects requests made on this machine by its user or the service itself, not on behalf of others.
 * A proxy or tunnel on this machine also calls from loopback; it is recognized by its headers, its
 * old HTTP version, or the headers of its browser clients. A proxy that adds nothing and speaks
 * HTTP/1.1 looks like a local user until a browser uses it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Headers that proxies, tunnels and platforms add. One of them with any value is enough to
 * recognize a proxy.
 */
const PROXY_HEADER =
  /^(forwarded|via|(x|true|x-cluster|fastly|fly|client)-(real-|client-)?ip|x-(forwarded|original|envoy|amzn|azure|appengine|arr|vercel|nf|proxy|proxyuser)(-.*)?|(cf|cdn|fastly|fly|ngrok|tailscale|akamai)-.*)$/

type Asked = {
  socket: Pick<Socket, 'remoteAddress'>
  headers: IncomingHttpHeaders
  raw: { httpVersion: string }
}

export function isOfThisMachine({ socket, headers, raw }: Asked): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    !Object.keys(headers).some((name) => PROXY_HEADER.test(name)) &&
    // The HTTP version of nginx before 1.29.7 to its upstreams by default; no browser has used it
    // for decades.
    raw.httpVersion !== '1.0'
  )
}

/**
 * Returns true when a browser requested another host than the Host header names, because a proxy
 * has replaced it with this machine's name. A page of another site cannot make a request look so:
 * browsers write Sec-Fetch-Site themselves, and in calls to this machine's names they always do.
 * Browsers omit it over plain http to any other name (Fetch Metadata is sent to potentially
 * trustworthy addresses only).
 */
export function isRenamed({ headers }: Pick<Asked, 'headers'>): boolean {
  const { origin, referer, 'sec-fetch-site': site } = headers
  if (origin === undefined && referer === undefined) return false
  const isOwnSite = site === 'same-origin' || site === 'same-site'
  if (!isOwnSite && site !== undefined) return false
  const schemes = isOwnSite ? ['http:', 'https:'] : ['http:']
  return (
    isLoopbackHost(headers.host) &&
    [origin, referer].some((address) => isElsewhere(address, schemes))
  )
}

function isElsewhere(address: string | undefined, schemes: readonly string[]): boolean {
  const page = URL.parse(address ?? '')
  return page !== null && schemes.includes(page.protocol) && !isLoopbackHost(page.host)
}

export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? '').replace(/^::ffff:/i, '')
  return plain === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain)
}

export function isLoopbackHost(host: string | undefined): boolean {
  const name = /^(\[[^\]]+\]|[^:]+)(:\d{1,5})?$/.exec((host ?? '').toLowerCase())?.[1] ?? ''
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
  )
}
