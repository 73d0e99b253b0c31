/**
 * The Ed25519 keys that sign offline licenses and updates. The newest key signs. An old key stays
 * published, because licenses that it signed are still in use, until the operator removes it.
 */
import { type KeyObject, sign } from 'node:crypto'
import { MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { createSealedKey, type KeySet, openPrivateKey, toJwk } from '#platform/signing.ts'
import '../tables.ts'

type Deps = Pick<Platform, 'db' | 'clock' | 'secrets'>
type SigningKey = { kid: string; publicX: string; privateKey: KeyObject }

const PURPOSE = 'license-signing-keys'
/** A node may sign with the previous key this long after a rotation. */
const RELOAD_MS = MINUTE_MS
/** Limits the queries for published keys to one per second. */
const PUBLISHED_MS = SECOND_MS

export class LicenseSigningKeys {
  readonly #deps: Deps
  #keys: SigningKey[] = []
  #loadedMs = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Signs as a flattened JWS (RFC 7515, section 7.2.2). */
  async signPayload(claims: object) {
    const { kid, privateKey } = await this.#current()
    const header = encode({ alg: 'EdDSA', kid, typ: 'license' })
    const payload = encode(claims)
    const signature = sign(null, Buffer.from(`${header}.${payload}`), privateKey)
    return { protected: header, payload, signature: signature.toString('base64url') }
  }

  /** Signs the UTF-8 bytes of a text. */
  async signText(text: string): Promise<{ keyId: string; signature: string }> {
    const { kid, privateKey } = await this.#current()
    const signature = sign(null, Buffer.from(text), privateKey)
    return { keyId: kid, signature: signature.toString('base64url') }
  }

  /** Returns the keys for /.well-known/license-keys.json, newest first. */
  async published(): Promise<KeySet> {
    await this.#refresh(PUBLISHED_MS)
    return { keys: this.#keys.map(({ kid, publicX }) => toJwk(kid, publicX)) }
  }

  async #current(): Promise<SigningKey> {
    await this.#refresh(RELOAD_MS)
    const [key] = this.#keys
    if (!key) throw new Error('there is no key to sign licenses with')
    return key
  }

  async #refresh(ageMs: number): Promise<void> {
    if (Math.abs(this.#deps.clock.ms() - this.#loadedMs) < ageMs) return
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null
    })
    await this.#loading
  }

  async #load(): Promise<void> {
    const { clock, db, secrets } = this.#deps
    let rows = await listSigningKeys(db)
    if (rows.length === 0) {
      await insertSigningKey(this.#deps, 1)
      rows = await listSigningKeys(db)
    }
    this.#keys = rows.map((row) => ({
      kid: row.kid,
      publicX: row.public_x,
      privateKey: openPrivateKey(secrets, PURPOSE, row),
    }))
    this.#loadedMs = clock.ms()
  }
}

/** Lists the keys, newest first. */
export function listSigningKeys(db: Deps['db']) {
  return db.selectFrom('license_signing_keys').selectAll().orderBy('number', 'desc').execute()
}

/** Adds a key, which signs from now on. Returns its id. */
export async function rotateSigningKey(deps: Deps): Promise<string> {
  const [newest] = await listSigningKeys(deps.db)
  return insertSigningKey(deps, (newest?.number ?? 0) + 1)
}

/** Stops publishing an old key. Returns false when it is unknown or signs now. */
export async function removeSigningKey(db: Deps['db'], kid: string): Promise<boolean> {
  const removed = await db
    .deleteFrom('license_signing_keys')
    .where('kid', '=', kid)
    .where('number', '<', (e) =>
      e.selectFrom('license_signing_keys').select((of) => of.fn.max('number').as('newest')),
    )
    .returning('kid')
    .executeTakeFirst()
  return removed !== undefined
}

/** If two nodes insert the same number, the first one's key is used. */
async function insertSigningKey({ db, clock, secrets }: Deps, number: number): Promise<string> {
  const sealed = createSealedKey(secrets, PURPOSE)
  const kid = `l${number}-${sealed.public_x.slice(0, 8)}`
  await db
    .insertInto('license_signing_keys')
    .values({ number, kid, ...sealed, created_at: clock.now() })
    .onConflict((conflict) => conflict.column('number').doNothing())
    .execute()
  return kid
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
