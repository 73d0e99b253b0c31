/**
 * GitHub's variant of OAuth: errors have status 200, replies are form-encoded unless the client
 * requests JSON, and the profile has two endpoints.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Form } from '../form.ts'
import { OPEN } from '../route.ts'
import {
  consumeCode,
  type Deps,
  findToken,
  grantToken,
  type OAuthDeps,
  provesChallenge,
  type TokenGrant,
} from './grants.ts'
import { findPerson, type Person } from './people.ts'

export function githubRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  app.post('/oauth/github/login/oauth/access_token', OPEN, (request, reply) => {
    const form = { ...(request.query as Form), ...((request.body ?? {}) as Form) }
    return dialect(request, reply, exchange(deps, form))
  })

  app.get('/oauth/github/user', OPEN, (request, reply) => {
    const found = findBearer(deps, request)
    if (!found) return badCredentials(reply)
    const { person } = found
    return {
      login: toLogin(person),
      id: Number(person.subject),
      node_id: Buffer.from(`04:User${person.subject}`).toString('base64'),
      avatar_url: `${deps.originOf(request)}/sandbox/oauth/faces/github/${person.subject}.svg`,
      html_url: `https://github.invalid/${toLogin(person)}`,
      type: 'User',
      site_admin: false,
      name: person.name,
      // Most public profiles hide the address. Only /user/emails returns it and whether it is
      // verified.
      email: null,
    }
  })

  app.get('/oauth/github/user/emails', OPEN, (request, reply) => {
    const found = findBearer(deps, request)
    if (!found) return badCredentials(reply)
    const { person, grant } = found
    if (!grant.scope.split(/[ ,]/).some((scope) => scope === 'user:email' || scope === 'user')) {
      return reply.code(404).send({
        message: 'Not Found',
        documentation_url: 'https://docs.github.com/rest',
        status: '404',
      })
    }
    return [
      { email: person.email, primary: true, verified: person.verified, visibility: 'private' },
      {
        email: `${person.subject}+${toLogin(person)}@users.noreply.github.invalid`,
        primary: false,
        verified: true,
        visibility: null,
      },
    ]
  })
}

function exchange(deps: Deps, form: Form): Record<string, string> {
  const bad = (error: string, description: string) => ({
    error,
    error_description: description,
    error_uri: 'https://docs.github.com/apps/troubleshooting',
  })
  if (!form.client_id || !form.client_secret) {
    return bad(
      'incorrect_client_credentials',
      'The client_id and/or client_secret passed are incorrect.',
    )
  }
  const grant = consumeCode(deps, 'github', String(form.code ?? ''))
  if (
    !grant ||
    grant.clientId !== form.client_id ||
    !provesChallenge(grant.challenge, String(form.code_verifier ?? ''))
  ) {
    return bad('bad_verification_code', 'The code passed is incorrect or expired.')
  }
  if (form.redirect_uri !== undefined && form.redirect_uri !== grant.redirectUri) {
    return bad(
      'redirect_uri_mismatch',
      'The redirect_uri MUST match the registered callback URL for this application.',
    )
  }
  const scope = grant.scope.split(/[ ,]+/).join(',')
  return {
    access_token: grantToken(deps, 'github', { subject: grant.subject, scope: grant.scope }),
    scope,
    token_type: 'bearer',
  }
}

function dialect(request: FastifyRequest, reply: FastifyReply, body: Record<string, string>) {
  reply.header('cache-control', 'no-store')
  if (/\bjson\b/.test(request.headers.accept ?? '')) return reply.send(body)
  return reply
    .type('application/x-www-form-urlencoded; charset=utf-8')
    .send(new URLSearchParams(body).toString())
}

function findBearer(
  deps: Deps,
  request: FastifyRequest,
): { person: Person; grant: TokenGrant } | undefined {
  const token = /^(?:Bearer|token) (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const grant = token ? findToken(deps, 'github', token) : undefined
  const person = grant && findPerson(deps.db, 'github', grant.subject)
  return grant && person && { person, grant }
}

const badCredentials = (reply: FastifyReply) =>
  reply.code(401).send({
    message: 'Bad credentials',
    documentation_url: 'https://docs.github.com/rest',
    status: '401',
  })

const toLogin = (person: Person): string =>
  (person.email.split('@')[0] ?? 'someone').replace(/[^a-zA-Z0-9-]/g, '-')
