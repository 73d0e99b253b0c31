// Simulates sign-in with Google and GitHub: a consent page, then the endpoints of each provider.
// Trap: any client id and secret are accepted; codes, PKCE, redirect addresses and expiry are
// checked.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { html } from '#platform/http/html.ts'
import type { Form } from '../form.ts'
import { show } from '../page.ts'
import { OPEN } from '../route.ts'
import { initials, PROVIDER_NAMES, showBadRequest, showChooser } from './chooser-page.ts'
import { githubRoutes } from './github.ts'
import { googleRoutes, readIssuer } from './google.ts'
import { type Deps, grantCode, type OAuthDeps } from './grants.ts'
import {
  addPerson,
  findPerson,
  listPeople,
  type Person,
  type Provider,
  stockPeople,
} from './people.ts'

/** Parameters of an authorization request that survive the chooser page. */
const CARRIED = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'login_hint',
]

export function oauthRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  stockPeople(deps.db)
  consentRoutes(app, deps, 'google', '/oauth/google/authorize')
  consentRoutes(app, deps, 'github', '/oauth/github/login/oauth/authorize')
  googleRoutes(app, deps)
  githubRoutes(app, deps)

  app.get('/oauth', OPEN, (_request, reply) => showProviders(reply, deps))

  app.get<{ Params: { provider: Provider; subject: string } }>(
    '/oauth/faces/:provider/:subject',
    OPEN,
    (request, reply) => {
      const person = findPerson(
        deps.db,
        request.params.provider,
        request.params.subject.replace(/\.svg$/, ''),
      )
      const hue = Number(person?.subject.slice(-3) ?? 0) % 360
      const letters = html`${initials(person?.name || person?.email || '?')}`
      return reply
        .type('image/svg+xml')
        .header('cache-control', 'max-age=3600')
        .header('cross-origin-resource-policy', 'cross-origin')
        .send(
          `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="hsl(${hue} 45% 40%)"/><text x="48" y="60" font-family="system-ui,sans-serif" font-size="36" font-weight="600" text-anchor="middle" fill="white">${letters}</text></svg>`,
        )
    },
  )
}

function consentRoutes(
  app: FastifyInstance,
  deps: OAuthDeps,
  provider: Provider,
  path: string,
): void {
  const action = `/sandbox${path}`

  app.get(path, OPEN, (request, reply) => {
    const parameters = readCarried(request.query)
    const wrong = refusal(provider, parameters)
    if (wrong) return showBadRequest(reply, provider, wrong)
    return showChooser(reply, provider, action, listPeople(deps.db, provider), parameters)
  })

  app.post(path, OPEN, (request, reply) => {
    const form = (request.body ?? {}) as Form
    const parameters = readCarried(form)
    const wrong = refusal(provider, parameters)
    if (wrong) return showBadRequest(reply, provider, wrong)

    // RFC 9207: Google sends its issuer, so that a client of several providers detects a mix-up.
    const answer = {
      ...(parameters.state === undefined ? {} : { state: parameters.state }),
      ...(provider === 'google' ? { iss: readIssuer(request) } : {}),
    }
    if (form.refuse === 'yes') {
      return reply.redirect(
        withQuery(parameters.redirect_uri ?? '', {
          error: 'access_denied',
          error_description: 'The user has denied your application access.',
          ...answer,
        }),
        303,
      )
    }
    const person = chosen(deps, provider, form)
    if (!person)
      return showChooser(
        reply,
        provider,
        action,
        listPeople(deps.db, provider),
        parameters,
        'Enter a valid email address.',
      )
    const code = grantCode(deps, provider, {
      subject: person.subject,
      clientId: parameters.client_id ?? '',
      redirectUri: parameters.redirect_uri ?? '',
      scope: parameters.scope ?? '',
      nonce: parameters.nonce ?? null,
      challenge: parameters.code_challenge ?? null,
    })
    return reply.redirect(withQuery(parameters.redirect_uri ?? '', { code, ...answer }), 303)
  })
}

function chosen({ db }: Deps, provider: Provider, form: Form): Person | undefined {
  if (typeof form.subject === 'string') return findPerson(db, provider, form.subject)
  const email = String(form.email ?? '').trim()
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) return undefined
  const name =
    String(form.name ?? '')
      .trim()
      .slice(0, 200) ||
    (email.split('@')[0] ?? email)
  return addPerson(db, provider, { email, name, verified: form.verified === 'yes' })
}

function refusal(provider: Provider, parameters: Record<string, string>): string | undefined {
  if (!parameters.client_id) return 'The service sent no client_id.'
  const redirect = URL.parse(parameters.redirect_uri ?? '')
  if (!redirect || !/^https?:$/.test(redirect.protocol))
    return 'The service sent no redirect_uri to return to.'
  if (provider === 'google' && parameters.response_type !== 'code')
    return 'Only response_type=code is spoken here.'
  if (provider === 'google' && !(parameters.scope ?? '').split(' ').includes('openid'))
    return 'The scope lacks openid.'
  if (parameters.code_challenge && parameters.code_challenge_method !== 'S256')
    return 'Only the code_challenge_method S256 is spoken here.'
  return undefined
}

function readCarried(from: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of CARRIED) {
    const value = (from as Record<string, unknown>)[name]
    if (typeof value === 'string' && value !== '') found[name] = value
  }
  return found
}

function withQuery(url: string, values: Record<string, string>): string {
  const target = new URL(url)
  for (const [name, value] of Object.entries(values)) target.searchParams.set(name, value)
  return target.href
}

function showProviders(reply: FastifyReply, { db }: Deps) {
  const main = html`<h1>Sign-in</h1>
<p class="quiet">“Continue with Google” and “Continue with GitHub” lead here while they have no client of their own.</p>
<div class="grid">${(['google', 'github'] as const).map(
    (provider) =>
      html`<section class="card"><h2>${PROVIDER_NAMES[provider]}</h2><ul class="people">${listPeople(
        db,
        provider,
      ).map(
        (person) =>
          html`<li>${person.name} <span class="small quiet">${person.email}${person.verified ? '' : ' – not verified'}</span></li>`,
      )}</ul></section>`,
  )}</div>`
  return show(reply, { title: 'Sign-in', place: 'oauth', main })
}
