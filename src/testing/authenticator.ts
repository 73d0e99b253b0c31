// A passkey device in software: makes ES256 credentials and signs with them, as WebAuthn Level 3
// (6.5, 7) has it.
import {
  createHash,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'

export type Device = {
  id: Buffer
  privateKey: KeyObject
  publicKey: KeyObject
  counter: number
  userHandle: string
}
type Place = { origin: string; rpId: string }

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

/** Answers navigator.credentials.create(). */
export function createCredential(
  options: { challenge: string; user: { id: string } },
  { origin, rpId }: Place,
): { device: Device; response: RegistrationResponseJSON } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  const device = { id, privateKey, publicKey, counter: 1, userHandle: options.user.id }
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  const authData = Buffer.concat([
    authenticatorData(rpId, USER_PRESENT | USER_VERIFIED | HAS_CREDENTIAL, device.counter),
    Buffer.alloc(16),
    length,
    id,
    coseKey(publicKey),
  ])
  const attestation = map([
    [text('fmt'), text('none')],
    [text('attStmt'), map([])],
    [text('authData'), bytes(authData)],
  ])
  const response = {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key' as const,
    clientExtensionResults: {},
    response: {
      clientDataJSON: clientData('webauthn.create', options.challenge, origin).toString(
        'base64url',
      ),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal' as const],
    },
  }
  return { device, response }
}

/** Answers navigator.credentials.get(). */
export function signChallenge(
  device: Device,
  options: { challenge: string },
  { origin, rpId, verified = true }: Place & { verified?: boolean },
): AuthenticationResponseJSON {
  device.counter += 1
  const authData = authenticatorData(
    rpId,
    USER_PRESENT | (verified ? USER_VERIFIED : 0),
    device.counter,
  )
  const client = clientData('webauthn.get', options.challenge, origin)
  const signed = Buffer.concat([authData, createHash('sha256').update(client).digest()])
  return {
    id: device.id.toString('base64url'),
    rawId: device.id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: createSign('sha256').update(signed).sign(device.privateKey).toString('base64url'),
      userHandle: device.userHandle,
    },
  }
}

function authenticatorData(rpId: string, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), count])
}

const clientData = (type: string, challenge: string, origin: string) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

/** RFC 9053: kty EC2, alg ES256, crv P-256, x, y. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return map([
    [int(1), int(2)],
    [int(3), int(-7)],
    [int(-1), int(1)],
    [int(-2), bytes(Buffer.from(x, 'base64url'))],
    [int(-3), bytes(Buffer.from(y, 'base64url'))],
  ])
}

// CBOR (RFC 8949), as much as is needed here.
const head = (major: number, value: number) =>
  value < 24
    ? Buffer.from([(major << 5) | value])
    : value < 256
      ? Buffer.from([(major << 5) | 24, value])
      : Buffer.from([(major << 5) | 25, value >> 8, value & 0xff])
const int = (value: number) => (value >= 0 ? head(0, value) : head(1, -1 - value))
const bytes = (value: Buffer) => Buffer.concat([head(2, value.length), value])
const text = (value: string) =>
  Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
const map = (entries: [Buffer, Buffer][]) =>
  Buffer.concat([head(5, entries.length), ...entries.flat()])
