// Records failed sign-ins: a log line (for fail2ban) and a metric at once, and an entry in the
// account's audit log some seconds later that combines several failures. Replies never wait for the
// audit log, so their time does not reveal accounts.
import { recordAudit } from '#audit/audit.ts'
import { HOUR_MS, type Instant, SECOND_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import type { Origin } from '../origin.ts'
import { USER_AGENT_MAX } from '../sessions/sessions.ts'
import { findUser, findUserByEmail, lockUser } from '../users.ts'

export type FailedSignIn = {
  account: string
  origin: Origin
  reason: string
  place?: 'storefront' | undefined
}

export type FailedSignIns = {
  note(failed: FailedSignIn): void
  /** Writes pending failures into the audit log, every few seconds and at the end. */
  flush(): Promise<void>
}

const FLUSH_MS = 5 * SECOND_MS
/** Maximum of accounts and reasons per interval; further ones are only logged. */
const PENDING_MAX = 5_000
const ADDRESSES_MAX = 20
/**
 * Audit entries per account and reason, so that strangers cannot fill its audit log. Further ones
 * are only logged.
 */
const AUDITED = { requests: 20, seconds: HOUR_MS / 1_000 }

type Pending = { failed: FailedSignIn; attempts: number; addresses: Set<string>; at: Instant }

type Deps = Pick<Platform, 'db' | 'clock' | 'limiter' | 'log' | 'metrics'>

export function createFailedSignIns({ db, clock, limiter, log, metrics }: Deps): FailedSignIns {
  const count = metrics.counts('latchkey_failed_sign_ins_total', 'Sign-ins that were refused', [
    'reason',
  ])
  const pending = new Map<string, Pending>()
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> | null = null

  return {
    note(failed: FailedSignIn) {
      const { account, origin, reason, place = 'account' } = failed
      const { address } = origin
      count(reason).value++
      log.warn({ reason, place, address }, `sign-in failed from ${address}`)
      const key = `${account}\n${reason}\n${place}`
      const known = pending.get(key)
      if (!known && pending.size >= PENDING_MAX) return
      const entry = known ?? { failed, attempts: 0, addresses: new Set(), at: clock.now() }
      entry.attempts++
      if (address !== null && entry.addresses.size < ADDRESSES_MAX) entry.addresses.add(address)
      pending.set(key, entry)
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref()
    },
    flush,
  }

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    // One write runs at a time; failures in the meantime are collected for the next one.
    while (writing) await writing
    if (pending.size === 0) return
    const entries = [...pending.values()]
    pending.clear()
    writing = write(entries).finally(() => {
      writing = null
    })
    await writing
  }

  async function write(entries: readonly Pending[]): Promise<void> {
    let missing = 0
    let cause: unknown
    for (const entry of entries) {
      await writeEntry(entry).catch((error) => {
        missing++
        cause = error
      })
    }
    if (missing > 0)
      log.error({ err: cause, entries: missing }, 'failed sign-ins are missing in the audit log')
  }

  async function writeEntry({ failed, attempts, addresses, at }: Pending): Promise<void> {
    const { account, reason, place, origin } = failed
    const user = await findUserByEmail(db, account)
    if (!user) return
    const { allowed } = await limiter.hit('audited-sign-ins', `${user.id}:${reason}`, AUDITED)
    if (!allowed) return
    // One short transaction per entry, because every entry of the log locks its head.
    await transaction(db, async (tx) => {
      await lockUser(tx, user.id)
      // A user deleted in the meantime gets no new pseudonym.
      if (!(await findUser(tx, user.id))) return
      await recordAudit(tx, {
        actorId: null,
        action: 'sign-in.failed',
        subject: `user:${user.id}`,
        data: {
          reason,
          attempts,
          addresses: [...addresses],
          user_agent: origin.userAgent?.slice(0, USER_AGENT_MAX) ?? null,
          ...(place === undefined ? {} : { place }),
        },
        at,
      })
    })
  }
}

/** Runs a step of a sign-in. Records its rejections and throws them again. */
export async function noting<T>(
  { failedSignIns }: { failedSignIns: Pick<FailedSignIns, 'note'> },
  failed: Omit<FailedSignIn, 'reason'>,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    // A correct password without a code needs no entry, and a failure of the service is not a
    // failed attempt.
    if (
      error instanceof Problem &&
      error.status < 500 &&
      error.code !== 'two_factor_code_required'
    ) {
      failedSignIns.note({ ...failed, reason: error.code })
    }
    throw error
  }
}
