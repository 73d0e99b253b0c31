import { type Icon, IconBrandGithubFilled, IconBrandGoogleFilled } from '@tabler/icons-react'
import { api } from '../api/client.ts'
import type { OAuthProvider } from '../api/types.ts'
import { type PendingSignIn, savePending } from './pending-sign-in.ts'

/** Sign-in providers in display order. */
export const OAUTH_PROVIDERS: { id: OAuthProvider; name: string; icon: Icon }[] = [
  { id: 'google', name: 'Google', icon: IconBrandGoogleFilled },
  { id: 'github', name: 'GitHub', icon: IconBrandGithubFilled },
]

/** Redirects to the provider, which redirects back to `/auth/callback`. */
export async function leaveForProvider(
  provider: OAuthProvider,
  pending: PendingSignIn,
): Promise<void> {
  const { authorization_url } = await api.get('/api/auth/oauth/{provider}', {
    path: { provider },
    anonymous: true,
  })
  savePending(pending)
  location.assign(authorization_url)
}
