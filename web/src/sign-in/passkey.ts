import { api } from '../api/client.ts'
import type { Token } from '../api/types.ts'

export function passkeysSupported(): boolean {
  return 'PublicKeyCredential' in window
}

/** Signs in with whichever passkey the person picks: no email needed. */
export async function passkeySignIn(): Promise<Token> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const { optionsJSON, kept } = optionsOf(await api.post('/api/auth/passkeys/login/options', {}, { anonymous: true }))
  const response = await startAuthentication({ optionsJSON } as Parameters<typeof startAuthentication>[0])
  return api.post<Token>('/api/auth/passkeys/login/verify', { ...kept, response }, { anonymous: true })
}

/** Makes a passkey on this device for the signed-in user. */
export async function registerPasskey(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const { optionsJSON, kept } = optionsOf(await api.post('/api/auth/passkeys/register/options', {}))
  const response = await startRegistration({ optionsJSON } as Parameters<typeof startRegistration>[0])
  await api.post('/api/auth/passkeys/register/verify', { ...kept, name, response })
}

function optionsOf(answer: unknown): { optionsJSON: unknown; kept: object } {
  const { options, ...kept } = answer as { options: unknown }
  return { optionsJSON: options, kept }
}
