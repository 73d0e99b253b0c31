import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useUser } from '../session/user.ts'
import { Notice } from './notice.tsx'
import { ToButton } from './to.tsx'

/** In front of what needs a paid plan: says what is behind it, instead of letting requests fail. */
export function Gate({ what, children }: { what: string; children: ReactNode }) {
  const { subscription_tier } = useUser()
  if (subscription_tier !== 'free') return <>{children}</>
  return (
    <Notice icon={IconLock} title={`${what} with Pro`} action={<ToButton to="/pricing">See the plans</ToButton>}>
      Your account is on the free plan. Pro and Enterprise open chat, documents, questions and API keys.
    </Notice>
  )
}
