/**
 * Ed25519 keys that a room signs with. The private half is stored encrypted (secrets.ts), the public
 * half is published as a JWK (RFC 8037, section 2).
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Secrets } from './secrets.ts'

export const KeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          kty: Type.String(),
          crv: Type.String(),
          x: Type.String(),
          kid: Type.String(),
          use: Type.String(),
          alg: Type.String(),
        },
        { title: 'SigningKey' },
      ),
    ),
  },
  { title: 'KeySet' },
)
export type KeySet = Static<typeof KeySet>

/** A key as a row stores it: the public point, and the encrypted private scalar. */
type SealedKey = { public_x: string; private_sealed: string }

export function createSealedKey(secrets: Secrets, purpose: string): SealedKey {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { public_x: x, private_sealed: secrets.seal(purpose, d) }
}

export function openPrivateKey(
  secrets: Secrets,
  purpose: string,
  { public_x, private_sealed }: SealedKey,
): KeyObject {
  const d = secrets.open(purpose, private_sealed)
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_x, d }, format: 'jwk' })
}

export function toJwk(kid: string, x: string): KeySet['keys'][number] {
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }
}
