// Turns the operator's kill switches on and off, for the superuser's routes and the command line.
// Each change is audited, and announced to all nodes after its commit.

import { ownerOfKey } from '#api-keys/keys.ts'
import { recordAudit } from '#audit/audit.ts'
import { findUser } from '#identity/users.ts'
import { findVendor } from '#models/catalogue.ts'
import { afterCommit, type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { SWITCHES_CHANGED } from './live.ts'
import { switchProblem } from './problems.ts'
import type { SwitchesTable, SwitchKind } from './tables.ts'

export type SwitchDeps = Pick<Platform, 'db' | 'clock' | 'bus' | 'config'>
export type Switch = SwitchesTable

/** Limited, because every process reads all switches every second. */
const SWITCHES_MAX = 1_000

/** Lists all switches by kind and name. */
export function listSwitches(db: Db): Promise<Switch[]> {
  return db.selectFrom('switches').selectAll().orderBy('kind').orderBy('subject').execute()
}

/**
 * Switches off a user, key, model or vendor. Doing it again changes the reason. `actorId`: null for
 * the command line. @throws Problem 404 for an unknown user, key or vendor; 409 for too many
 * switches
 */
export async function switchOff(
  deps: SwitchDeps,
  actorId: string | null,
  { kind, subject: named, reason }: { kind: SwitchKind; subject: string; reason: string },
): Promise<Switch> {
  const { db, clock } = deps
  return transaction(db, async (tx) => {
    const { subject, userId } = await resolveSubject(deps, tx, kind, named)
    const { count } = await tx
      .selectFrom('switches')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (Number(count) >= SWITCHES_MAX)
      throw switchProblem('switch_limit_reached', { max: SWITCHES_MAX })
    const row = { kind, subject, user_id: userId, reason, set_at: clock.now() }
    await tx
      .insertInto('switches')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['kind', 'subject']).doUpdateSet({ reason, set_at: row.set_at }),
      )
      .execute()
    await changed(deps, tx, actorId, 'switch.off', row, { reason })
    return row
  })
}

/** Removes a switch. @throws Problem 404 when there is none. */
export async function switchOn(
  deps: SwitchDeps,
  actorId: string | null,
  { kind, subject }: { kind: SwitchKind; subject: string },
): Promise<void> {
  await transaction(deps.db, async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('switches')
      .where('kind', '=', kind)
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw switchProblem('switch_not_found')
    await changed(deps, tx, actorId, 'switch.on', { kind, subject })
  })
}

/** A vendor's first name; a model is any name or pattern. @throws Problem 404 */
export function requireSubject(
  { config }: Pick<SwitchDeps, 'config'>,
  { kind, subject }: { kind: 'model' | 'vendor'; subject: string },
): string {
  if (kind === 'model') return subject
  const vendor = findVendor(config.ai, subject)
  if (vendor === undefined) throw switchProblem('switch_subject_unknown', { kind })
  return vendor.name
}

/** The id of a user or key, a vendor's main name, or any name or pattern of models. */
async function resolveSubject({ config }: SwitchDeps, tx: Db, kind: SwitchKind, named: string) {
  const unknown = () =>
    switchProblem('switch_subject_unknown', { kind: kind === 'key' ? 'API key' : kind })
  if (kind === 'model' || kind === 'vendor') {
    return { subject: requireSubject({ config }, { kind, subject: named }), userId: null }
  }
  const userId =
    kind === 'user' ? ((await findUser(tx, named))?.id ?? null) : await ownerOfKey(tx, named)
  if (userId === null) throw unknown()
  return { subject: named, userId }
}

const AUDITED = { user: 'user', key: 'api-key', model: 'model', vendor: 'vendor' } as const

async function changed(
  { clock, bus }: SwitchDeps,
  tx: Db,
  actorId: string | null,
  action: 'switch.off' | 'switch.on',
  { kind, subject }: Pick<Switch, 'kind' | 'subject'>,
  data?: { reason: string },
): Promise<void> {
  afterCommit(tx, () => bus.publish(SWITCHES_CHANGED, {}))
  await recordAudit(tx, {
    actorId,
    action,
    subject: `${AUDITED[kind]}:${subject}`,
    at: clock.now(),
    ...(data && { data }),
  })
}
