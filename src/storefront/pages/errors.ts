import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { replyWithError } from '#platform/http/replies.ts'
import { Problem } from '#platform/problem.ts'
import { storefrontErrors } from '../errors.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
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
    const messages = readMessages(request, caller, deps.config.brand)
    const { errors: text, claim, login } = messages
    const way = caller
      ? { to: '/dashboard', label: claim.toPurchases }
      : { to: '/pricing', label: text.seePricing }
    const redirect = `/login?redirect=${encodeURIComponent(request.url)}`
    const link = error.status === 401 ? { to: redirect, label: login.title } : way
    reply.headers(error.headers)
    const says = error.status === 401 ? text.signInText : describeProblem(messages, error)
    const title = getTitle(error.status, messages)
    const body = messagePage(title, says, link)
    return sendPage(reply, deps, {
      title,
      body,
      caller,
      messages,
      status: error.status,
    })
  }
}

function getTitle(status: number, { errors: text }: PageMessages): string {
  if (status === 401) return text.signInRequired
  if (status === 429) return text.tooMany
  if (status === 403) return text.noDownload
  return status >= 500 ? text.failed : text.notPossible
}
