import { api } from '../api/client.ts'
import type { PasskeyOptions, Token } from '../api/types.ts'

export function passkeysSupported(): boolean {
  return 'PublicKeyCredential' in window
}

/** Signs in with whichever passkey the person picks: no email needed. */
export async function passkeySignIn(): Promise<Token> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const { optionsJSON, kept } = optionsOf(
    await api.post<PasskeyOptions>('/api/auth/passkeys/login/options', {}, { anonymous: true }),
  )
  const response = await startAuthentication({ optionsJSON } as Parameters<typeof startAuthentication>[0])
  return api.post<Token>('/api/auth/passkeys/login/verify', { ...kept, response }, { anonymous: true })
}

/** Makes a passkey on this device for the signed-in user. */
export async function registerPasskey(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const { optionsJSON, kept } = optionsOf(await api.post<PasskeyOptions>('/api/auth/passkeys/register/options', {}))
  const response = await startRegistration({ optionsJSON } as Parameters<typeof startRegistration>[0])
  await api.post('/api/auth/passkeys/register/verify', { ...kept, name, response })
}

/** What goes to the authenticator, and what goes back to the service beside its response. */
function optionsOf({ options, ...kept }: PasskeyOptions): { optionsJSON: unknown; kept: object } {
  return { optionsJSON: options, kept }
}
