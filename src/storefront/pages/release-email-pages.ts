/**
 * The page of the opt-out link in emails about releases. A GET changes nothing, because mail
 * scanners open links.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { type OptoutDeps, readToken, setReleaseEmails } from '../releases/optout.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'
import { onPageError } from './errors.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

const TITLE = 'Emails about new releases'

export function releaseEmailPages(app: App, deps: SessionDeps & OptoutDeps & LayoutDeps): void {
  const options = {
    config: { access: 'anyone' as const, limit: 'general' as const },
    errorHandler: onPageError(deps),
  }
  const show = async (request: FastifyRequest, reply: FastifyReply, body: Html) =>
    sendPage(reply.header('referrer-policy', 'no-referrer'), deps, {
      title: TITLE,
      body,
      caller: await findStoreCaller(deps, request.cookies[SESSION_COOKIE]),
    })

  app.get('/release-emails', options, async (request, reply) => {
    const token = readQueryToken(request)
    readToken(deps, token)
    return show(request, reply, optoutPage(token))
  })

  app.post('/release-emails', options, async (request, reply) => {
    const token = readQueryToken(request)
    const isWanted = (request.body as { wanted?: unknown } | null)?.wanted === 'yes'
    await setReleaseEmails(deps, token, isWanted)
    return show(request, reply, isWanted ? optedInPage() : optedOutPage(token))
  })
}

function readQueryToken(request: FastifyRequest): string {
  const { token } = request.query as { token?: unknown }
  return typeof token === 'string' ? token : ''
}

function optoutPage(token: string): Html {
  return html`<div class="narrow"><h1>${TITLE}</h1>
<p class="lead">You get at most one email a week. Emails about your orders and your license continue.</p>
<form class="card" method="post" action="/release-emails?token=${token}"><button class="button wide">Stop emails about releases</button></form></div>`
}

function optedOutPage(token: string): Html {
  return html`<div class="narrow"><h1>${TITLE}</h1>
<div class="notice" role="status"><p>You get no more emails about new releases.</p></div>
<form method="post" action="/release-emails?token=${token}"><input type="hidden" name="wanted" value="yes"><button class="button quiet">Get them again</button></form></div>`
}

function optedInPage(): Html {
  return html`<div class="narrow"><h1>${TITLE}</h1>
<div class="notice" role="status"><p>You get emails about new releases again, at most one a week.</p></div></div>`
}
