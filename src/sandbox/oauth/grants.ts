/** Codes and access tokens are random and short-lived. A code works once. */
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '#platform/clock.ts'
import type { SandboxDatabase } from '../database.ts'
import type { Provider } from './people.ts'

export type Deps = { db: SandboxDatabase; clock: Clock }

/** The dependencies of the providers' routes. */
export type OAuthDeps = Deps & { originOf: (request: FastifyRequest) => string }

export type CodeGrant = {
  subject: string
  clientId: string
  redirectUri: string
  scope: string
  nonce: string | null
  /** PKCE, RFC 7636, S256 only. */
  challenge: string | null
}

export type TokenGrant = { subject: string; scope: string }

const CODE_MS = 5 * 60_000
const TOKEN_MS = 3_600_000

export function grantCode(deps: Deps, provider: Provider, grant: CodeGrant): string {
  return keep(deps, provider, 'code', grant, CODE_MS)
}

export function grantToken(deps: Deps, provider: Provider, grant: TokenGrant): string {
  return keep(deps, provider, 'token', grant, TOKEN_MS)
}

export function consumeCode(
  { db, clock }: Deps,
  provider: Provider,
  code: string,
): CodeGrant | undefined {
  const row = db
    .prepare(
      `delete from oauth_grants where code = ? and provider = ? and kind = 'code' returning body, expires_ms`,
    )
    .get(code, provider)
  return row && Number(row.expires_ms) > clock.ms()
    ? (JSON.parse(String(row.body)) as CodeGrant)
    : undefined
}

export function findToken(
  { db, clock }: Deps,
  provider: Provider,
  token: string,
): TokenGrant | undefined {
  const row = db
    .prepare(
      `select body, expires_ms from oauth_grants where code = ? and provider = ? and kind = 'token'`,
    )
    .get(token, provider)
  return row && Number(row.expires_ms) > clock.ms()
    ? (JSON.parse(String(row.body)) as TokenGrant)
    : undefined
}

/** Returns true when there is no challenge, or when the verifier hashes to it. */
export function provesChallenge(challenge: string | null, verifier: string): boolean {
  return (
    challenge === null || createHash('sha256').update(verifier).digest('base64url') === challenge
  )
}

function keep(
  { db, clock }: Deps,
  provider: Provider,
  kind: 'code' | 'token',
  body: object,
  lifeMs: number,
): string {
  db.prepare('delete from oauth_grants where expires_ms < ?').run(clock.ms())
  const prefix = kind === 'code' ? '' : provider === 'github' ? 'gho_' : 'ya29.'
  const code = prefix + randomBytes(24).toString('base64url')
  db.prepare(
    'insert into oauth_grants (code, provider, kind, body, expires_ms) values (?, ?, ?, ?, ?)',
  ).run(code, provider, kind, JSON.stringify(body), clock.ms() + lifeMs)
  return code
}
