/** Google as an OpenID provider: discovery, token with PKCE, signed id_token, keys, userinfo. */
import { createHash, generateKeyPairSync } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { exportJWK, importJWK, type JWK, SignJWT } from 'jose'
import type { Form } from '../form.ts'
import { OPEN } from '../route.ts'
import {
  consumeCode,
  type Deps,
  findToken,
  grantToken,
  type OAuthDeps,
  provesChallenge,
} from './grants.ts'
import { findPerson, type Person } from './people.ts'

const ID_TOKEN_S = 3_600

export function googleRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  app.get('/oauth/google/.well-known/openid-configuration', OPEN, (request) => {
    const issuer = readIssuer(request)
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid', 'email', 'profile'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      claims_supported: [
        'aud',
        'email',
        'email_verified',
        'exp',
        'iat',
        'iss',
        'name',
        'picture',
        'sub',
      ],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    }
  })

  app.get('/oauth/google/jwks', OPEN, async () => {
    const { d: _, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...publicKey } = await signingKey(deps)
    return { keys: [publicKey] }
  })

  app.post('/oauth/google/token', OPEN, async (request, reply) => {
    const form = (request.body ?? {}) as Form
    const client = readClient(request, form)
    if (!client) return refuse(reply, 401, 'invalid_client', 'The client sent no id and secret.')
    if (form.grant_type !== 'authorization_code')
      return refuse(reply, 400, 'unsupported_grant_type', 'Only authorization_code is spoken here.')
    const grant = consumeCode(deps, 'google', String(form.code ?? ''))
    if (!grant) return refuse(reply, 400, 'invalid_grant', 'The code is unknown, used or expired.')
    if (grant.clientId !== client.id || grant.redirectUri !== form.redirect_uri) {
      return refuse(reply, 400, 'invalid_grant', 'The code was given to another client or address.')
    }
    if (!provesChallenge(grant.challenge, String(form.code_verifier ?? '')))
      return refuse(reply, 400, 'invalid_grant', 'The code_verifier does not fit.')
    const person = findPerson(deps.db, 'google', grant.subject)
    if (!person) return refuse(reply, 400, 'invalid_grant', 'The account is gone.')

    const accessToken = grantToken(deps, 'google', { subject: person.subject, scope: grant.scope })
    const now = Math.floor(deps.clock.ms() / 1000)
    const key = await signingKey(deps)
    const idToken = await new SignJWT({
      ...toClaims(person, grant.scope, deps.originOf(request)),
      azp: client.id,
      at_hash: createHash('sha256')
        .update(accessToken)
        .digest()
        .subarray(0, 16)
        .toString('base64url'),
      ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid ?? '' })
      .setIssuer(readIssuer(request))
      .setAudience(client.id)
      .setIssuedAt(now)
      .setExpirationTime(now + ID_TOKEN_S)
      .sign(await importJWK(key, 'RS256'))
    return reply.header('cache-control', 'no-store').send({
      access_token: accessToken,
      expires_in: ID_TOKEN_S,
      id_token: idToken,
      scope: grant.scope,
      token_type: 'Bearer',
    })
  })

  app.get('/oauth/google/userinfo', OPEN, (request, reply) => {
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const grant = token ? findToken(deps, 'google', token) : undefined
    const person = grant && findPerson(deps.db, 'google', grant.subject)
    if (!grant || !person)
      return reply
        .header('www-authenticate', 'Bearer error="invalid_token"')
        .code(401)
        .send({ error: 'invalid_token' })
    return toClaims(person, grant.scope, deps.originOf(request))
  })
}

function toClaims(person: Person, scope: string, origin: string) {
  const scopes = scope.split(' ')
  const [given = '', ...family] = person.name.split(' ')
  return {
    sub: person.subject,
    ...(scopes.includes('email') ? { email: person.email, email_verified: person.verified } : {}),
    ...(scopes.includes('profile')
      ? {
          name: person.name,
          given_name: given,
          family_name: family.join(' '),
          picture: `${origin}/sandbox/oauth/faces/google/${person.subject}.svg`,
        }
      : {}),
  }
}

/** HTTP Basic or the body, RFC 6749 section 2.3.1. */
function readClient(request: FastifyRequest, form: Form): { id: string } | undefined {
  const basic = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (basic) {
    const [id = '', secret = ''] = Buffer.from(basic, 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent)
    return id && secret ? { id } : undefined
  }
  return typeof form.client_id === 'string' && form.client_id && form.client_secret
    ? { id: form.client_id }
    : undefined
}

/**
 * Creates the key at the first use and stores it, so that signatures stay valid after a restart.
 */
async function signingKey({ db }: Deps): Promise<JWK> {
  const stored = db.prepare('select private_jwk from oauth_keys limit 1').get()
  if (stored) return JSON.parse(String(stored.private_jwk)) as JWK
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk: JWK = { ...(await exportJWK(privateKey)), kid: 'sandbox', alg: 'RS256', use: 'sig' }
  db.prepare('insert into oauth_keys (id, private_jwk) values (?, ?) on conflict do nothing').run(
    'sandbox',
    JSON.stringify(jwk),
  )
  return JSON.parse(
    String(db.prepare('select private_jwk from oauth_keys limit 1').get()?.private_jwk),
  ) as JWK
}

function refuse(reply: FastifyReply, status: number, error: string, description: string) {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .send({ error, error_description: description })
}

/** Returns the request's origin, which is the issuer for the client. */
export const readIssuer = (request: FastifyRequest): string =>
  `http://${request.host}/sandbox/oauth/google`
