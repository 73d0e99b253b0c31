// Authenticates API keys for every AI and RAG call, without a write. Rows are cached for half a
// second. A revocation takes effect at once on this node and on all nodes that receive the bus, and
// within one second on every node.
import { LRUCache } from 'lru-cache'
import './tables.ts'
import { USER_CHANGED } from '#identity/user-changes.ts'
import { findUser, readSlices } from '#identity/users.ts'
import type { Caller, MaybePromise } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { type ApiKey, getBudget, getRate, KEYS_CHANGED, keyHash } from './keys.ts'
import { isKeyShaped, ownerOfSecret } from './secret.ts'

type VerifierDeps = Pick<Platform, 'db' | 'clock' | 'secrets' | 'bus' | 'log'>

export type KeyVerifier = {
  /**
   * Returns the caller of this key; null when it is unknown, revoked or expired. `fresh`: ignores
   * the cache.
   */
  verify(secret: string, options?: { fresh?: boolean | undefined }): MaybePromise<Caller | null>
  /** Returns when the key was last used, including uses that are not stored yet. */
  lastUse(key: Pick<ApiKey, 'id' | 'last_used_at'>): string | null
  close(): Promise<void>
}

/** A revocation must take effect within one second; half of that is left for the query. */
const STATE_AGE_MS = 500
const STATES_MAX = 20_000
const FLUSH_MS = 1_000

type KeyState = { caller: Caller; endsMs: number; readMs: number }

export function createVerifier(deps: VerifierDeps): KeyVerifier {
  const { clock, bus } = deps
  const states = new LRUCache<string, KeyState>({ max: STATES_MAX })
  const reading = new Map<string, Promise<KeyState | null>>()
  /**
   * Hashes of recently accepted secrets, because computing checksum and hash is the most expensive
   * part of a check.
   */
  const hashes = new LRUCache<string, string>({ max: STATES_MAX })
  const uses = createUses(deps)

  bus.on(KEYS_CHANGED, (payload) => {
    const { keyId } = payload as { keyId: string }
    for (const [hash, state] of [...states]) if (state.caller.keyId === keyId) states.delete(hash)
    hashes.clear()
    // A running read may predate the change; its result is used once and not cached.
    reading.clear()
  })

  bus.on(USER_CHANGED, (payload) => {
    const { userId } = payload as { userId: string }
    for (const [hash, state] of [...states]) if (state.caller.userId === userId) states.delete(hash)
    reading.clear()
  })

  bus.onGap(() => {
    states.clear()
    reading.clear()
  })

  return {
    verify(secret, { fresh = false } = {}) {
      const known = hashes.get(secret)
      if (known === undefined && !isKeyShaped(secret)) return null
      const hash = known ?? keyHash(deps, secret)
      if (fresh) {
        states.delete(hash)
        reading.delete(hash)
      }
      const state = readState(secret, hash)
      return state instanceof Promise
        ? state.then((read) => open(secret, hash, read))
        : open(secret, hash, state)
    },
    lastUse: uses.lastUse,
    close: uses.close,
  }

  function readState(secret: string, hash: string): MaybePromise<KeyState | null> {
    const known = states.get(hash)
    if (known && Math.abs(clock.ms() - known.readMs) < STATE_AGE_MS) return known
    const running = reading.get(hash)
    if (running) return running
    const read = readKeyState(deps, ownerOfSecret(secret), hash).then((state) => {
      if (reading.get(hash) !== read) return state
      reading.delete(hash)
      states.delete(hash)
      if (state?.caller.keyId) states.set(hash, state)
      return state
    })
    read.catch(() => reading.delete(hash))
    reading.set(hash, read)
    return read
  }

  function open(secret: string, hash: string, state: KeyState | null): Caller | null {
    if (state === null || state.endsMs <= clock.ms() || state.caller.keyId === null) {
      hashes.delete(secret)
      return null
    }
    // Only accepted secrets are cached, so that guesses do not fill the memory.
    if (hashes.get(secret) !== hash) hashes.set(secret, hash)
    uses.note(state.caller.userId, state.caller.keyId)
    return state.caller
  }
}

async function readKeyState(
  { db, clock }: VerifierDeps,
  owner: string,
  hash: string,
): Promise<KeyState | null> {
  const readMs = clock.ms()
  const own = db.selectFrom('api_keys').selectAll().where('user_id', '=', owner)
  const key =
    (await own.where('hash', '=', hash).executeTakeFirst()) ??
    (await own.where('previous_hash', '=', hash).executeTakeFirst())
  if (!key?.is_active) return null
  const user = await findUser(db, key.user_id)
  if (user === null) return null

  const ends = [key.expires_at, key.hash === hash ? null : (key.previous_until_at ?? clock.now())]
  return {
    readMs,
    endsMs: Math.min(
      ...ends.map((end) => (end === null ? Number.POSITIVE_INFINITY : Date.parse(end))),
    ),
    caller: {
      userId: user.id,
      email: user.email,
      sessionId: null,
      keyId: key.id,
      tier: user.subscription_tier,
      slices: readSlices(user),
      isActive: user.is_active,
      isVerified: user.is_verified,
      isSuperuser: false,
      scopes: key.scopes_json,
      models: key.models_json,
      addresses: key.addresses_json,
      rate: getRate(key),
      budget: getBudget(key),
    },
  }
}

/**
 * Updates `last_used_at` at most once a second, for all keys in one transaction, outside of the
 * request.
 */
function createUses({ db, clock, log }: VerifierDeps) {
  let pending = new Map<string, { userId: string; at: string }>()
  let timer: NodeJS.Timeout | null = null

  return {
    note(userId: string, keyId: string) {
      const use = pending.get(keyId)
      if (use === undefined) pending.set(keyId, { userId, at: clock.now() })
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref()
    },
    lastUse(key: Pick<ApiKey, 'id' | 'last_used_at'>): string | null {
      const at = pending.get(key.id)?.at ?? null
      return at === null || (key.last_used_at !== null && key.last_used_at > at)
        ? key.last_used_at
        : at
    },
    async close() {
      if (timer) clearTimeout(timer)
      await flush()
    },
  }

  async function flush() {
    timer = null
    const batch = pending
    if (batch.size === 0) return
    pending = new Map()
    try {
      await db.transaction().execute(async (tx) => {
        for (const [id, { userId, at }] of batch) {
          await tx
            .updateTable('api_keys')
            .set({ last_used_at: at })
            .where('user_id', '=', userId)
            .where('id', '=', id)
            .where((where) =>
              where.or([where('last_used_at', 'is', null), where('last_used_at', '<', at)]),
            )
            .execute()
        }
      })
    } catch (error) {
      log.warn({ err: error }, 'the last use of API keys was not noted')
    }
  }
}
