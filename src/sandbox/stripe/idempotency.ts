/**
 * Repeats the reply of an Idempotency-Key for a day, including failures, and rejects the key with
 * another request. As in the real API, nothing is stored for a call that was rejected before its
 * work began: https://docs.stripe.com/api/idempotent_requests
 */
import { createHash } from 'node:crypto'
import type { SandboxDatabase } from '../database.ts'
import type { ProcessorDeps } from './deps.ts'
import { Fault, toFault } from './fault.ts'

export type Reply = { status: number; body: string }

const KEPT_MS = 24 * 3_600_000

/** Call it in a transaction. Calls run one at a time, so a key is never in use twice. */
export function replayOrRun(
  deps: ProcessorDeps,
  key: string | undefined,
  request: string,
  answer: () => Reply,
): Reply & { replayed: boolean } {
  if (key === undefined) return { ...answer(), replayed: false }
  deps.db.prepare('delete from stripe_replies where at_ms < ?').run(Date.now() - KEPT_MS)

  const fingerprint = createHash('sha256').update(request).digest('hex')
  const known = deps.db.prepare('select * from stripe_replies where key = ?').get(key)
  if (known) {
    if (known.request !== fingerprint) {
      throw new Fault(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    return { status: Number(known.status), body: String(known.body), replayed: true }
  }

  const reply = runAnswer(deps.db, answer)
  deps.db
    .prepare(
      'insert into stripe_replies (key, request, status, body, at_ms) values (?, ?, ?, ?, ?)',
    )
    .run(key, fingerprint, reply.status, reply.body, Date.now())
  return { ...reply, replayed: false }
}

/**
 * Returns the reply. After a failure, rolls back its work and returns the error as the reply.
 * @throws Fault when the work never began
 */
function runAnswer(db: SandboxDatabase, answer: () => Reply): Reply {
  db.exec('savepoint answer')
  try {
    const reply = answer()
    db.exec('release answer')
    return reply
  } catch (error) {
    const fault = toFault(error as Error)
    if (isParameterFault(fault)) throw fault
    db.exec('rollback to answer; release answer')
    return { status: fault.status, body: JSON.stringify({ error: fault.body }) }
  }
}

const isParameterFault = ({ body }: Fault): boolean =>
  /^(parameter_|url_invalid)/.test(body.code ?? '')
