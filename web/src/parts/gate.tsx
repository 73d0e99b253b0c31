import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useUser } from '../session/user.ts'
import { Notice } from './notice.tsx'
import { ToButton } from './to.tsx'

type GateProps = { what: string; page?: boolean; children: ReactNode }

/** In front of what needs a paid plan: says what is behind it, instead of letting requests fail. `page` where it stands for a whole page. */
export function Gate({ what, page = false, children }: GateProps) {
  const { subscription_tier } = useUser()
  if (subscription_tier !== 'free') return <>{children}</>
  return (
    <Notice
      icon={IconLock}
      order={page ? 1 : 2}
      title={`${what} with Pro`}
      action={<ToButton to="/pricing">See the plans</ToButton>}
    >
      Your account is on the free plan. Pro and Enterprise open chat, documents, questions and API keys.
    </Notice>
  )
}
