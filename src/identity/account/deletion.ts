// Deletion of an account: in one transaction goes all that the account can be used or recognised by, in every room; what may be much (calls,
// chunks, downloads) nobody reaches then, and a job removes it in slices. The audit log keeps its entries under a pseudonym that no
// longer leads to anyone.
import { setTimeout as wait } from 'node:timers/promises'
import { forgetPerson, recordAudit } from '#audit/audit.ts'
import { accountDeletedEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { IdentityNeeds } from '../deps.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import { type ConfirmDeps, confirmOwner, lockConfirmed, type Proof, type Requester } from '../sign-in/step-up.ts'
import { announceUserChange } from '../user-changes.ts'
import { recount } from '../user-counts.ts'
import type { User } from '../users.ts'

export type DeletionDeps = ConfirmDeps & RevocationDeps & Pick<IdentityNeeds, 'rooms'> & Pick<Platform, 'jobs'>

export type Confirmation = Proof & { confirm?: string | null | undefined }

/**
 * @throws Problem 400 `Type DELETE to confirm` for an account without a password; as `confirmOwner` and
 * `lockConfirmed`.
 */
export async function deleteAccount(
  deps: DeletionDeps,
  user: User,
  { confirm, ...proof }: Confirmation,
  requester: Requester,
): Promise<void> {
  if (user.password_hash === null && confirm !== 'DELETE') {
    throw identityProblem('confirmation_missing')
  }
  await confirmOwner(deps, user, proof, requester)

  await transaction(deps.db, async (tx) => {
    // The user's row first and the log last, as everywhere: two orders of locks would be a deadlock.
    await lockConfirmed(deps, tx, user, proof, requester)
    await revokeSessions(deps, tx, user.id)
    for (const room of deps.rooms) await room.erase?.(tx, user.id)
    await recordAudit(tx, { actorId: user.id, action: 'account.deleted', at: deps.clock.now() })
    await forgetPerson(tx, user.id)
    // Sessions, tokens, devices, links, codes and passkeys go with the row they refer to.
    const gone = await tx.deleteFrom('users').where('id', '=', user.id).returningAll().executeTakeFirst()
    await recount(tx, gone ?? null, null)
    await sendMail(deps, tx, accountDeletedEmail(deps.config, { to: user.email }))
    announceUserChange(tx, user.id)
    await deps.jobs.enqueue(tx, ERASE_JOB, { userId: user.id })
  })
}

const ERASE_JOB = 'account.erase'

export function handleErasure({ jobs, db, rooms }: DeletionDeps): void {
  jobs.handle(ERASE_JOB, async ({ userId }: { userId: string }, { signal }) => {
    for (const room of rooms) {
      for (const erase of room.eraseSlices ?? []) {
        let rows = -1
        while (rows !== 0 && !signal.aborted) {
          rows = await erase(db, userId)
          // Others write in between.
          if (rows !== 0) await wait(REST_MS, null, { signal })
        }
      }
    }
    signal.throwIfAborted()
  })
}

const REST_MS = 10
