// The Ed25519 keys that sign tokens, encrypted in the database. A new key signs every 30 days and
// is published a day before. An old key verifies tokens for 31 more days, a day longer than any
// token is valid.
import { createPublicKey, type KeyObject } from 'node:crypto'
import '../tables.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { createSealedKey, type KeySet, openPrivateKey, toJwk } from '#platform/signing.ts'
import { buildHeader } from './jws.ts'

export type SigningKey = {
  kid: string
  header: string
  publicX: string
  publicKey: KeyObject
  privateKey: KeyObject
  signsFromMs: number
  verifiesUntilMs: number
}

export type Keyring = {
  /** Returns the key that signs now. */
  current(): Promise<SigningKey>
  /** Returns the key for tokens with this encoded header; null when no valid key has it. */
  find(header: string): SigningKey | null
  /** Like `find`, but also reads the database, for a key that another node has created. */
  seek(header: string): Promise<SigningKey | null>
  /**
   * Returns the keys for /.well-known/jwks.json: every key that verifies, including the next one.
   */
  published(): Promise<KeySet>
}

const PERIOD_MS = 30 * DAY_MS
const GRACE_MS = 31 * DAY_MS
const AHEAD_MS = DAY_MS
const RELOAD_MS = MINUTE_MS
/** Limits queries for unknown headers to one per second. */
const SEEK_MS = SECOND_MS

type KeyringDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>

export function createKeyring(deps: KeyringDeps): Keyring {
  const { clock } = deps
  let keys: SigningKey[] = []
  let loadedMs = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  return {
    async current() {
      await refresh(RELOAD_MS)
      const now = clock.ms()
      const key = keys.findLast(({ signsFromMs }) => signsFromMs <= now)
      if (!key)
        throw new Error(
          'no key signs now: the clock of this machine is behind that of the database',
        )
      return key
    },

    find,

    async seek(header) {
      await refresh(SEEK_MS)
      return find(header)
    },

    async published() {
      await refresh(RELOAD_MS)
      const now = clock.ms()
      return {
        keys: keys
          .filter(({ verifiesUntilMs }) => verifiesUntilMs > now)
          .map(({ kid, publicX }) => toJwk(kid, publicX)),
      }
    },
  }

  function find(header: string): SigningKey | null {
    const key = keys.find((candidate) => candidate.header === header)
    return key && key.verifiesUntilMs > clock.ms() ? key : null
  }

  async function refresh(ageMs: number) {
    if (Math.abs(clock.ms() - loadedMs) < ageMs) return
    loading ??= load().finally(() => {
      loading = null
    })
    await loading
  }

  async function load() {
    await addMissingKeys(deps)
    keys = await readKeys(deps)
    loadedMs = clock.ms()
  }
}

/**
 * Creates the key of this period, and of the next one when it is near. If two nodes try, one
 * succeeds.
 */
async function addMissingKeys({ db, clock, secrets }: KeyringDeps) {
  const now = clock.ms()
  const slots = new Set([Math.floor(now / PERIOD_MS), Math.floor((now + AHEAD_MS) / PERIOD_MS)])
  const known = await db
    .selectFrom('signing_keys')
    .select('slot')
    .where('slot', 'in', [...slots])
    .execute()
  for (const { slot } of known) slots.delete(slot)

  for (const slot of slots) {
    const sealed = createSealedKey(secrets, 'signing-keys')
    await db
      .insertInto('signing_keys')
      .values({
        kid: `k${slot}-${sealed.public_x.slice(0, 8)}`,
        slot,
        ...sealed,
        signs_from: new Date(slot * PERIOD_MS).toISOString(),
        verifies_until: new Date((slot + 1) * PERIOD_MS + GRACE_MS).toISOString(),
      })
      .onConflict((conflict) => conflict.column('slot').doNothing())
      .execute()
  }
  if (slots.size > 0) {
    await db.deleteFrom('signing_keys').where('verifies_until', '<', clock.now()).execute()
  }
}

async function readKeys({ db, secrets }: KeyringDeps): Promise<SigningKey[]> {
  const rows = await db.selectFrom('signing_keys').selectAll().orderBy('slot').execute()
  return rows.map((row) => {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: row.public_x }
    return {
      kid: row.kid,
      header: buildHeader(row.kid),
      publicX: row.public_x,
      publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
      privateKey: openPrivateKey(secrets, 'signing-keys', row),
      signsFromMs: Date.parse(row.signs_from),
      verifiesUntilMs: Date.parse(row.verifies_until),
    }
  })
}
