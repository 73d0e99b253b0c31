// Account deletion. One transaction removes all data that identifies the user or gives access, in
// every room. Large data (calls, chunks, downloads, the log of emails) becomes unreachable at once,
// and a job removes it in slices. The audit log keeps its entries under a pseudonym that no longer
// identifies a person.
import { setTimeout as wait } from 'node:timers/promises'
import { eraseDetailsSlice, forgetPerson, recordAudit } from '#audit/audit.ts'
import { accountDeletedEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import { releaseOwner } from '#platform/lookups.ts'
import type { Platform } from '#platform/platform.ts'
import type { IdentityNeeds } from '../deps.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import {
  type ConfirmDeps,
  confirmOwner,
  lockConfirmed,
  type Proof,
  type Requester,
} from '../sign-in/step-up.ts'
import { announceUserChange } from '../user-changes.ts'
import { recount } from '../user-counts.ts'
import type { User } from '../users.ts'
import { listAddresses } from './addresses.ts'

export type DeletionDeps = ConfirmDeps &
  RevocationDeps &
  Pick<IdentityNeeds, 'rooms'> &
  Pick<Platform, 'jobs'>

export type Confirmation = Proof & { confirm?: string | null | undefined }

/**
 * @throws Problem 400 `Type DELETE to confirm` for an account without a password; as `confirmOwner`
 * and `lockConfirmed`.
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
    // Lock order, as everywhere: the user's row, the counts, the audit log. Another order could
    // deadlock.
    await lockConfirmed(deps, tx, user, proof, requester)
    const addresses = (await listAddresses(tx, user.id)).map(({ key, proven }) => ({
      key,
      since: proven ? null : user.created_at,
    }))
    await revokeSessions(deps, tx, user.id)
    for (const room of deps.rooms) await room.erase?.(tx, user.id, addresses)
    await releaseOwner(tx, user.id)
    await tx.deleteFrom('one_time_tokens').where('user_id', '=', user.id).execute()
    // The database also deletes the sessions, devices, links, codes and passkeys of this row.
    const gone = await tx
      .deleteFrom('users')
      .where('id', '=', user.id)
      .returningAll()
      .executeTakeFirst()
    await recount(tx, gone ?? null, null)
    await sendMail(deps, tx, accountDeletedEmail(deps.config, { to: user }))
    announceUserChange(tx, user.id)
    await recordAudit(tx, { actorId: user.id, action: 'account.deleted', at: deps.clock.now() })
    const person = await forgetPerson(tx, user.id)
    await deps.jobs.enqueue(tx, ERASE_JOB, { userId: user.id, person })
  })
}

const ERASE_JOB = 'account.erase'

type Erasure = { userId: string; person: string | null }

export function handleErasure({ jobs, db, rooms }: DeletionDeps): void {
  jobs.handle(
    ERASE_JOB,
    async ({ userId, person }: Erasure, { signal }) => {
      const ofRooms = rooms.flatMap(({ eraseSlices = [] }) =>
        eraseSlices.map((erase) => () => erase(db, userId)),
      )
      for (const erase of person === null
        ? ofRooms
        : [...ofRooms, () => eraseDetailsSlice(db, person)]) {
        while ((await erase()) > 0) {
          // Lets other transactions write in between.
          await wait(REST_MS, null, { signal })
        }
      }
    },
    { lane: 'long' },
  )
}

const REST_MS = 10
