// The device cookie (OWASP): a random id that a browser stores after a sign-in. It gives no access.
// It identifies devices that have signed in before, so that failures of unknown devices do not
// count against the owner. Needs @fastify/cookie.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY_MS } from '#platform/clock.ts'
import { type Origin, readOrigin } from '../origin.ts'

export type DeviceOrigin = Origin & { address: string; device: string }

export type DeviceCookie = {
  /**
   * Returns the request's origin. A browser without the cookie gets a new id, which no account
   * knows.
   */
  originOf(request: FastifyRequest): DeviceOrigin
  /** Sets the cookie after a successful sign-in. */
  keep(reply: FastifyReply, origin: DeviceOrigin): void
}

/** The longest lifetime of a cookie in browsers (RFC 6265bis, 5.5). */
const LIFE_S = (400 * DAY_MS) / 1_000
const ID_SHAPE = /^[\w-]{22}$/

/** @param url The server that sets the cookie. */
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
