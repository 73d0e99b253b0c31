import type { FastifyReply } from 'fastify'
import type { Config } from '#config/config.ts'
import { SESSION_COOKIE, SESSION_MS } from './sessions.ts'

export function setSessionCookie(reply: FastifyReply, { urls }: Config, token: string): void {
  reply.setCookie(SESSION_COOKIE, token, {
    httpOnly: true,
    sameSite: 'lax',
    secure: urls.storefront.startsWith('https:'),
    path: '/',
    maxAge: SESSION_MS / 1000,
  })
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, { path: '/' })
}
