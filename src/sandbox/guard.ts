// Guards the sandbox against everyone but the person at this machine: it hands out mail and money to whoever asks.
// One thing to know: both the peer's address and the Host must be loopback, so a hostile page cannot reach it by rebinding a name.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** `open` (SANDBOX=on) lets other hosts in, for a demonstration on a network of one's own. */
export function loopbackOnly(open: boolean) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!open && !isOfThisMachine(request)) {
      return reply.code(403).send({ detail: 'The sandbox answers this machine only. SANDBOX=on opens it to others.' })
    }
    // A form on a foreign page could press the sandbox's buttons; browsers say where a request came from.
    if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
      return reply.code(403).send({ detail: 'The sandbox takes no forms from other sites.' })
    }
  }
}

function isOfThisMachine({ socket, headers }: FastifyRequest): boolean {
  // A tunnel or proxy on this machine calls from loopback for strangers; those say so in a header.
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').filter(Boolean)
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    isLoopbackHost(headers.host) &&
    headers.forwarded === undefined &&
    forwarded.every((address) => isLoopbackAddress(address.trim()))
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
