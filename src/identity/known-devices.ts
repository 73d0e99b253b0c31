// Stores an account's sign-ins as keyed hashes: the browser (by its cookie), the network, and the
// program within its wider network. The first two distinguish the owner from strangers. All three
// decide whether a sign-in is from a new device and needs an email.
import { HOUR_MS, type Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { networkKey } from '#platform/http/address.ts'
import { findNameOwner } from '#platform/lookups.ts'
import type { Platform } from '#platform/platform.ts'
import type { Origin } from './origin.ts'
import type { UserDevicesTable } from './tables.ts'

/** A device without a sign-in for longer is forgotten. */
export const REMEMBERED_DAYS = 180
/** `last_seen_at` is updated at most this often. */
const TOUCH_MS = HOUR_MS

type Secrets = Pick<Platform, 'secrets'>

/**
 * Returns how the account recognizes the device of a sign-in; null when it does not. Always runs
 * two queries, so that an unknown address takes as long as a known one.
 */
export async function recognizeDevice(
  { db, secrets }: Secrets & Pick<Platform, 'db'>,
  account: string,
  { address, device }: Origin & { address: string },
): Promise<'browser' | 'network' | null> {
  const browser = device === undefined ? '' : hashMark(secrets, 'browser', device)
  const userId = (await findNameOwner(db, 'email', account)) ?? ''
  const found = await selectMarks(
    db,
    userId,
    browser,
    hashMark(secrets, 'network', networkKey(address)),
  )
  return found === undefined ? null : (found.kind as 'browser' | 'network')
}

/** The browser takes precedence over the network, because only the owner has it. */
const selectMarks = prepared(
  (db) =>
    db
      .selectFrom('user_devices')
      .select('kind')
      .where('user_id', '=', '')
      .where('mark', 'in', ['', ''])
      .orderBy('kind'),
  3,
)

/**
 * Stores the origin of a sign-in. Returns true when the account knows other devices, but not this
 * one.
 */
export async function rememberDevice(
  { secrets }: Secrets,
  tx: Db,
  userId: string,
  origin: Origin,
  now: Instant,
): Promise<boolean> {
  const marks = hashMarks(secrets, origin)
  const known = await tx
    .selectFrom('user_devices')
    .select(['kind', 'mark', 'last_seen_at'])
    .where('user_id', '=', userId)
    .where(
      'mark',
      'in',
      marks.map(({ mark }) => mark),
    )
    .execute()
  if (known.some(({ last_seen_at }) => Date.parse(now) - Date.parse(last_seen_at) >= TOUCH_MS)) {
    await tx
      .updateTable('user_devices')
      .set({ last_seen_at: now })
      .where('user_id', '=', userId)
      .where(
        'mark',
        'in',
        known.map(({ mark }) => mark),
      )
      .execute()
  }
  const fresh = marks.filter(({ mark }) => !known.some((one) => one.mark === mark))
  if (fresh.length === 0) return false

  const isNew = !known.some(({ kind }) => kind !== 'network') && (await hasDevices(tx, userId))
  await tx
    .insertInto('user_devices')
    .values(
      fresh.map((one) => ({ user_id: userId, ...one, first_seen_at: now, last_seen_at: now })),
    )
    .onConflict((conflict) => conflict.columns(['user_id', 'mark']).doNothing())
    .execute()
  for (const { kind } of fresh) await forgetSurplus(tx, userId, kind)
  return isNew
}

/**
 * Maximum per kind before pruning, and after it. A client without cookies is a new browser at every
 * sign-in.
 */
const DEVICES = { max: 60, left: 40 }

/**
 * Removes devices with a single sign-in first, so that any number of them cannot displace the
 * owner's browser.
 */
async function forgetSurplus(
  tx: Db,
  userId: string,
  kind: UserDevicesTable['kind'],
): Promise<void> {
  const ofKind = tx
    .selectFrom('user_devices')
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
  const { count } = await ofKind
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count <= DEVICES.max) return
  const known = await ofKind.select(['mark', 'first_seen_at', 'last_seen_at']).execute()
  const cameBack = ({ first_seen_at, last_seen_at }: (typeof known)[number]) =>
    Number(first_seen_at !== last_seen_at)
  const surplus = known
    .toSorted((a, b) => cameBack(b) - cameBack(a) || b.last_seen_at.localeCompare(a.last_seen_at))
    .slice(DEVICES.left)
  await tx
    .deleteFrom('user_devices')
    .where('user_id', '=', userId)
    .where(
      'mark',
      'in',
      surplus.map(({ mark }) => mark),
    )
    .execute()
}

/**
 * After a break-in, forgets browsers and networks. The programs remain; they only avoid an email to
 * the owner.
 */
export async function forgetDevices(tx: Db, userId: string): Promise<void> {
  await tx
    .deleteFrom('user_devices')
    .where('user_id', '=', userId)
    .where('kind', 'in', ['browser', 'network'])
    .execute()
}

async function hasDevices(tx: Db, userId: string): Promise<boolean> {
  const any = await tx
    .selectFrom('user_devices')
    .select('user_id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst()
  return any !== undefined
}

function hashMarks(secrets: Platform['secrets'], { userAgent, address, device }: Origin) {
  // Ignores version numbers, so that an updated browser is no new program. Uses the wider network
  // (/16, /48), so that a phone that changes its address is not new each time.
  const program = (userAgent ?? '').replaceAll(/[\d.]+/g, '')
  const wide = address?.includes(':')
    ? address.split(':').slice(0, 3)
    : (address ?? '').split('.').slice(0, 2)
  return [
    ...(device === undefined
      ? []
      : [{ kind: 'browser' as const, mark: hashMark(secrets, 'browser', device) }]),
    ...(address === null
      ? []
      : [{ kind: 'network' as const, mark: hashMark(secrets, 'network', networkKey(address)) }]),
    {
      kind: 'program' as const,
      mark: hashMark(secrets, 'program', JSON.stringify([program, wide])),
    },
  ]
}

const hashMark = (secrets: Platform['secrets'], kind: string, value: string) =>
  secrets.hash('devices', `${kind}:${value}`)
