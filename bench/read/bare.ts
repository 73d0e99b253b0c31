// The baseline: no framework, router or limits; the same EdDSA verification with the same cache,
// and the same row as JSON.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const [port, database, service] = process.argv.slice(2)
const keys = createRemoteJWKSet(new URL(`${service}/.well-known/jwks.json`))
const db = new DatabaseSync(database ?? '', { readOnly: true })
const find = db.prepare(
  'select id, email, full_name, avatar_url, is_active, is_verified, subscription_status, subscription_tier, created_at from users where id = ?',
)

const verified = new Map<string, { sub: string; expiresMs: number }>()

createServer(async (request, response) => {
  try {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
    let known = verified.get(token)
    if (!known) {
      const { payload } = await jwtVerify(token, keys, { algorithms: ['EdDSA'] })
      known = { sub: String(payload.sub), expiresMs: (payload.exp ?? 0) * 1_000 }
      verified.set(token, known)
    }
    if (known.expiresMs < Date.now()) throw new Error('expired')
    const row = find.get(known.sub) as Record<string, unknown>
    const body = JSON.stringify({
      ...row,
      is_active: row.is_active === 1,
      is_verified: row.is_verified === 1,
    })
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      .end(body)
  } catch {
    response.writeHead(401, { 'content-length': 0 }).end()
  }
}).listen(Number(port), '127.0.0.1', () => console.log('up'))
