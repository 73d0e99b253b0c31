import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Entitlement } from '../api/types.ts'
import { planName, plansWith } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { useUser } from '../session/user.ts'
import { Notice } from './notice.tsx'
import { ToButton } from './to.tsx'

type GateProps = { needs: Entitlement; what: string; page?: boolean; children: ReactNode }

/** In front of what a plan has to grant: says what is behind it, instead of letting requests fail. `page` where it stands for a whole page. */
export function Gate({ needs, what, page = false, children }: GateProps) {
  const { subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  if (entitlements.includes(needs)) return <>{children}</>

  const names = plansWith(plans, needs)
  return (
    <Notice
      icon={IconLock}
      order={page ? 1 : 2}
      title={`${what} with ${names[0] ?? 'another plan'}`}
      action={<ToButton to="/pricing">See the plans</ToButton>}
    >
      {`Your account is on the ${planName(plans, subscription_tier)} plan. `}
      {names.length > 0 && `This is part of ${new Intl.ListFormat('en-GB').format(names)}.`}
    </Notice>
  )
}
