/** The same Idempotency-Key gets the same reply for a day; the same key with another request is refused. */
import { createHash } from 'node:crypto'
import { Fault } from './fault.ts'
import type { World } from './world.ts'

export type Reply = { status: number; body: string }

const KEPT_MS = 24 * 3_600_000

/** Calls are handled one after the other, so a key is never under way twice. */
export function once(
  world: World,
  key: string | undefined,
  request: string,
  answer: () => Reply,
): Reply & { replayed: boolean } {
  if (key === undefined) return { ...answer(), replayed: false }
  world.db.prepare('delete from stripe_replies where at_ms < ?').run(Date.now() - KEPT_MS)

  const fingerprint = createHash('sha256').update(request).digest('hex')
  const known = world.db.prepare('select * from stripe_replies where key = ?').get(key)
  if (known) {
    if (known.request !== fingerprint) {
      throw new Fault(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    return { status: Number(known.status), body: String(known.body), replayed: true }
  }

  const reply = answer()
  world.db
    .prepare('insert into stripe_replies (key, request, status, body, at_ms) values (?, ?, ?, ?, ?)')
    .run(key, fingerprint, reply.status, reply.body, Date.now())
  return { ...reply, replayed: false }
}
