// The device cookie (OWASP): a random id that a browser keeps after a sign-in, good for no access.
// The cookie distinguishes a device that has signed in to an account from strangers, so that their
// failures do not count against the owner. Needs @fastify/cookie.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY_MS } from '#platform/clock.ts'
import { type Origin, readOrigin } from '../origin.ts'

export type DeviceOrigin = Origin & { address: string; device: string }

export type DeviceCookie = {
  /** A browser without the cookie gets a new id, which no account knows. */
  originOf(request: FastifyRequest): DeviceOrigin
  /** After a sign-in that succeeded. */
  keep(reply: FastifyReply, origin: DeviceOrigin): void
}

/** The longest lifetime of a cookie in browsers (RFC 6265bis, 5.5). */
const LIFE_S = (400 * DAY_MS) / 1_000
const ID_SHAPE = /^[\w-]{22}$/

/** @param url of the server whose cookie it is. */
export function deviceCookie({
  url,
  name,
  path,
}: {
  url: string
  name: string
  path: string
}): DeviceCookie {
  const secure = url.startsWith('https:')
  const cookie = secure ? `__Secure-${name}` : name
  return {
    originOf(request) {
      const known = request.cookies[cookie] ?? ''
      return {
        ...readOrigin(request),
        device: ID_SHAPE.test(known) ? known : randomBytes(16).toString('base64url'),
      }
    },
    keep(reply, { device }) {
      reply.setCookie(cookie, device, {
        path,
        httpOnly: true,
        secure,
        sameSite: 'lax',
        maxAge: LIFE_S,
      })
    },
  }
}
