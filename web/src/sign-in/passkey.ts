import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { api } from '../api/client.ts'
import type { Token } from '../api/types.ts'

export function hasPasskeySupport(): boolean {
  return 'PublicKeyCredential' in window
}

/** Signs in with the passkey that the user picks, without an email address. */
export async function authenticateByPasskey(): Promise<Token> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const { options } = await api.post('/api/auth/passkeys/login/options', undefined, {
    anonymous: true,
  })
  const response = await startAuthentication({
    optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON,
  })
  return api.post('/api/auth/passkeys/login/verify', { response }, { anonymous: true })
}

/** Creates a passkey on this device for the signed-in user. */
export async function registerPasskey(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const { options } = await api.post('/api/auth/passkeys/register/options')
  const response = await startRegistration({
    optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON,
  })
  await api.post('/api/auth/passkeys/register/verify', { name, response })
}
