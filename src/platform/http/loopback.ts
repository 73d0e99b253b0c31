// Whether a request was made on this machine, by its person or the service itself, and by nobody on behalf of others.
// A proxy or tunnel on this machine calls from loopback, too: what gives it away are its headers, an old HTTP, or what a browser
// behind it says. One that adds nothing and speaks HTTP/1.1 is not told from a person until a browser comes through it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** What proxies, tunnels and platforms add; one suffices, whatever it says. */
const PROXY_HEADER =
  /^(forwarded|via|(x|true|x-cluster|fastly|fly|client)-(real-|client-)?ip|x-(forwarded|original|envoy|amzn|azure|appengine|arr|vercel|nf|proxy|proxyuser)(-.*)?|(cf|cdn|fastly|fly|ngrok|tailscale|akamai)-.*)$/

type Asked = { socket: Pick<Socket, 'remoteAddress'>; headers: IncomingHttpHeaders; raw: { httpVersion: string } }

export function isOfThisMachine({ socket, headers, raw }: Asked): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    !Object.keys(headers).some((name) => PROXY_HEADER.test(name)) &&
    // What nginx before 1.29.7 speaks to its upstreams when told nothing else; no browser has for decades.
    raw.httpVersion !== '1.0'
  )
}

/**
 * Whether a browser asked for another host than the request names: a proxy has written this machine's own over it. Browsers say
 * by themselves that a page calls its own site, so no page of another site can make a request look so.
 */
export function isRenamed({ headers }: Pick<Asked, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  if (site !== 'same-origin' && site !== 'same-site') return false
  return isLoopbackHost(headers.host) && (isElsewhere(headers.origin) || isElsewhere(headers.referer))
}

function isElsewhere(address: string | undefined): boolean {
  const page = URL.parse(address ?? '')
  return page !== null && /^https?:$/.test(page.protocol) && !isLoopbackHost(page.host)
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
