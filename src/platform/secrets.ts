/**
 * The service's own keys: one random root in the database, and a key per purpose derived from it
 * (HKDF). With SECRET_KEY, the root is stored encrypted, so that a stolen backup of the database
 * reveals no key.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import './tables.ts'
import type { Clock } from './clock.ts'
import type { Db } from './db/db.ts'

export type Secrets = {
  /** 32 bytes, the same at every start. */
  key(purpose: string): Buffer
  /** Returns HMAC-SHA256 of the value in base64url, to find a secret without storing it. */
  hash(purpose: string, value: string): string
  /** Encrypts with AES-256-GCM. Returns nonce, tag and text in base64url. */
  seal(purpose: string, text: string): string
  /** @throws Error when the text was sealed for another purpose or changed. */
  open(purpose: string, sealed: string): string
}

export type RootKeys = { secretKey: string | null; secretKeyOld: string | null }

/**
 * Reads the root secret, or creates it at the first start. With a SECRET_KEY, encrypts a root that
 * is stored in plain or with the former key. Derived keys stay the same. `isGuest`: only reads.
 * @throws Error for the operator when the root cannot be opened
 */
export async function openSecrets(
  { db, clock }: { db: Db; clock: Clock },
  keys: RootKeys,
  { isGuest = false }: { isGuest?: boolean } = {},
): Promise<Secrets> {
  const { secretKey } = keys
  const stored = (root: Buffer) => (secretKey === null ? root : sealRoot(root, secretKey))
  if (!isGuest) {
    await db
      .insertInto('secrets')
      .values({ name: 'root', value: stored(randomBytes(ROOT_BYTES)), created_at: clock.now() })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
  }
  const row = await db
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', 'root')
    .executeTakeFirst()
  if (!row) throw new Error('the database has no keys yet: start the service once')

  const { root, isCurrent } = openRoot(Buffer.from(row.value), keys)
  // Another node may have encrypted and stored it first.
  if (!isCurrent && !isGuest) {
    await db
      .updateTable('secrets')
      .set({ value: stored(root) })
      .where('name', '=', 'root')
      .where('value', '=', row.value)
      .execute()
  }
  return deriveSecrets(root)
}

const ROOT_BYTES = 32

/** A plain root has 32 bytes; an encrypted one has 60 (nonce, tag, root). */
export const isSealed = (stored: Uint8Array) => stored.length !== ROOT_BYTES

/** @throws Error for the operator when these keys cannot decrypt the root. */
export function openRoot(
  stored: Buffer,
  { secretKey, secretKeyOld }: RootKeys,
): { root: Buffer; isCurrent: boolean } {
  if (!isSealed(stored)) return { root: stored, isCurrent: secretKey === null }
  if (secretKey === null) throw new Error('its keys are sealed with a SECRET_KEY: set it')
  const root = unsealed(stored, sealingKey(secretKey))
  if (root) return { root, isCurrent: true }
  const former = secretKeyOld === null ? null : unsealed(stored, sealingKey(secretKeyOld))
  if (former) return { root: former, isCurrent: false }
  throw new Error(
    secretKeyOld === null
      ? 'SECRET_KEY is not the one that its keys are sealed with: set the former one as SECRET_KEY_OLD to change it'
      : 'neither SECRET_KEY nor SECRET_KEY_OLD is the one that its keys are sealed with',
  )
}

const sealRoot = (root: Buffer, secretKey: string) => sealed(root, sealingKey(secretKey))

const sealingKey = (secretKey: string) =>
  Buffer.from(hkdfSync('sha256', secretKey, '', 'latchkey/seal-of-the-root', 32))

function sealed(bytes: Buffer, key: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const text = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** Returns null when the bytes were encrypted with another key, or changed. */
function unsealed(bytes: Buffer, key: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), {
    authTagLength: 16,
  })
  decipher.setAuthTag(bytes.subarray(12, 28))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
  } catch {
    return null
  }
}

export function deriveSecrets(root: Uint8Array): Secrets {
  const keys = new Map<string, Buffer>()
  const key = (purpose: string): Buffer => {
    const known = keys.get(purpose)
    if (known) return known
    const derived = Buffer.from(hkdfSync('sha256', root, '', `latchkey/${purpose}`, 32))
    keys.set(purpose, derived)
    return derived
  }

  return {
    key,
    hash: (purpose, value) => createHmac('sha256', key(purpose)).update(value).digest('base64url'),
    seal: (purpose, text) => sealed(Buffer.from(text, 'utf8'), key(purpose)).toString('base64url'),
    open(purpose, text) {
      const bytes = unsealed(Buffer.from(text, 'base64url'), key(purpose))
      if (bytes === null) throw new Error(`this was not sealed here for '${purpose}'`)
      return bytes.toString('utf8')
    },
  }
}
