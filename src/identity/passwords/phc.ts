/** Parameters of Argon2id: memory in KiB, passes, lanes. */
export type Argon2Parameters = { memory: number; passes: number; parallelism: number }

/** OWASP's recommendation for Argon2id: 19 MiB, 2 passes, 1 lane. */
export const PARAMETERS: Argon2Parameters = { memory: 19_456, passes: 2, parallelism: 1 }

export type StoredHash = Argon2Parameters & { salt: Buffer; hash: Buffer }

/**
 * `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`, the form that other Argon2 libraries read and write.
 */
export function encodePhc({ memory, passes, parallelism, salt, hash }: StoredHash): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`
}

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,88})\$([A-Za-z0-9+/]{22,88})$/

/** Returns null for text that is not Argon2id in the PHC format. */
export function decodePhc(text: string): StoredHash | null {
  const match = PHC.exec(text)
  if (!match) return null
  const [, memory, passes, parallelism, salt = '', hash = ''] = match
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

export function isOutdated(
  stored: Argon2Parameters,
  { memory, passes, parallelism }: Argon2Parameters,
): boolean {
  return stored.memory !== memory || stored.passes !== passes || stored.parallelism !== parallelism
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
