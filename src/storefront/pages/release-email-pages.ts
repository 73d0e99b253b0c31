/**
 * The page of the opt-out link in emails about releases. A GET changes nothing, because mail
 * scanners open links.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { type PageMessages, readMessages } from '../messages/pages.ts'
import { type OptoutDeps, readToken, setReleaseEmails } from '../releases/optout.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'
import { onPageError } from './errors.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

export function releaseEmailPages(app: App, deps: SessionDeps & OptoutDeps & LayoutDeps): void {
  const options = {
    config: { access: 'anyone' as const, limit: 'general' as const },
    errorHandler: onPageError(deps),
  }
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    render: (messages: PageMessages) => Html,
  ): Promise<FastifyReply> => {
    const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
    const messages = readMessages(request, caller, deps.config.brand)
    return sendPage(reply.header('referrer-policy', 'no-referrer'), deps, {
      title: messages.releaseEmails.title,
      body: render(messages),
      caller,
      messages,
    })
  }

  app.get('/release-emails', options, async (request, reply) => {
    const token = readQueryToken(request)
    readToken(deps, token)
    return show(request, reply, (messages) => optoutPage(token, messages))
  })

  app.post('/release-emails', options, async (request, reply) => {
    const token = readQueryToken(request)
    const isWanted = (request.body as { wanted?: unknown } | null)?.wanted === 'yes'
    await setReleaseEmails(deps, token, isWanted)
    return show(request, reply, (messages) =>
      isWanted ? optedInPage(messages) : optedOutPage(token, messages),
    )
  })
}

function readQueryToken(request: FastifyRequest): string {
  const { token } = request.query as { token?: unknown }
  return typeof token === 'string' ? token : ''
}

function optoutPage(token: string, { releaseEmails: text }: PageMessages): Html {
  return html`<div class="narrow"><h1>${text.title}</h1>
<p class="lead">${text.lead}</p>
<form class="card" method="post" action="/release-emails?token=${token}"><button class="button wide">${text.button}</button></form></div>`
}

function optedOutPage(token: string, { releaseEmails: text }: PageMessages): Html {
  return html`<div class="narrow"><h1>${text.title}</h1>
<div class="notice" role="status"><p>${text.out}</p></div>
<form method="post" action="/release-emails?token=${token}"><input type="hidden" name="wanted" value="yes"><button class="button quiet">${text.again}</button></form></div>`
}

function optedInPage({ releaseEmails: text }: PageMessages): Html {
  return html`<div class="narrow"><h1>${text.title}</h1>
<div class="notice" role="status"><p>${text.in}</p></div></div>`
}
