// Guards the keys that the service makes for itself: one random root in the database, a key per purpose derived from it.
// One thing to know: with SECRET_KEY set, the database alone (a stolen backup) opens nothing.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import './tables.ts'
import type { Clock } from './clock.ts'
import type { Db } from './db/db.ts'

export type Secrets = {
  /** 32 bytes, the same at every start. */
  key(purpose: string): Buffer
  /** HMAC-SHA256 of the value, base64url: for finding a secret that is not stored. */
  hash(purpose: string, value: string): string
  /** AES-256-GCM, base64url of nonce, tag, text. */
  seal(purpose: string, text: string): string
  /** @throws Error when the text was sealed for another purpose or changed. */
  open(purpose: string, sealed: string): string
}

/** Reads the root, or makes it at the first start. */
export async function openSecrets({ db, clock }: { db: Db; clock: Clock }, secretKey: string | null): Promise<Secrets> {
  await db
    .insertInto('secrets')
    .values({ name: 'root', value: randomBytes(32), created_at: clock.now() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db.selectFrom('secrets').select('value').where('name', '=', 'root').executeTakeFirstOrThrow()
  return deriveSecrets(value, secretKey)
}

export function deriveSecrets(root: Uint8Array, secretKey: string | null): Secrets {
  const keys = new Map<string, Buffer>()
  const key = (purpose: string): Buffer => {
    const known = keys.get(purpose)
    if (known) return known
    const derived = Buffer.from(hkdfSync('sha256', root, secretKey ?? '', `latchkey/${purpose}`, 32))
    keys.set(purpose, derived)
    return derived
  }

  return {
    key,
    hash: (purpose, value) => createHmac('sha256', key(purpose)).update(value).digest('base64url'),
    seal(purpose, text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key(purpose), nonce)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(purpose, text) {
      const bytes = Buffer.from(text, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key(purpose), bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}
