import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { replyWithError } from '#platform/http/replies.ts'
import { Problem } from '#platform/problem.ts'
import { storefrontErrors } from '../errors.ts'
import { type CookieDeps, findStoreCaller, SESSION_COOKIE } from '../sessions/sessions.ts'
import { type LayoutDeps, sendPage } from './layout.ts'
import { messagePage } from './message-page.ts'

/**
 * Handles errors of addresses that both people and programs open. Browser navigations get an error
 * page with the same status; other clients get the JSON error of the contract.
 */
export function onPageError(deps: CookieDeps & LayoutDeps) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    if (
      request.headers['sec-fetch-dest'] !== 'document' ||
      !(error instanceof Problem) ||
      typeof error.detail !== 'string'
    ) {
      return replyWithError(storefrontErrors, error, request, reply)
    }
    const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
    const login = { to: `/login?redirect=${encodeURIComponent(request.url)}`, label: 'Sign in' }
    const link = error.status === 401 ? login : WAYS_ON[caller ? 'owner' : 'visitor']
    reply.headers(error.headers)
    const text =
      error.status === 401
        ? 'Sign in with the account that you used for the purchase.'
        : error.detail
    const body = messagePage(getTitle(error.status), text, link)
    return sendPage(reply, deps, {
      title: getTitle(error.status),
      body,
      caller,
      status: error.status,
    })
  }
}

const WAYS_ON = {
  owner: { to: '/dashboard', label: 'Go to your purchases' },
  visitor: { to: '/pricing', label: 'See pricing' },
}

function getTitle(status: number): string {
  if (status === 401) return 'Sign in required'
  if (status === 429) return 'Too many requests'
  if (status === 403) return 'Download not available'
  return status >= 500 ? 'Something went wrong' : 'Request not possible'
}
