// Whether a request was made on this machine, by its person or the service itself, and by nobody on behalf of others.
// A proxy or tunnel on this machine calls from loopback, too: what gives it away are its headers, and an old HTTP.
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
    // What nginx speaks to its upstreams when told nothing else; no browser has for decades.
    raw.httpVersion !== '1.0'
  )
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
