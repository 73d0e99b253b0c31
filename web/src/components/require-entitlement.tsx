import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Entitlement } from '../api/types.ts'
import { findPlans, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { useUser } from '../session/user.ts'
import { LinkButton } from './links.tsx'
import { Notice } from './notice.tsx'

type RequireEntitlementProps = {
  entitlement: Entitlement
  what: string
  page?: boolean
  children: ReactNode
}

/**
 * Shows its children if the plan includes the feature; otherwise how to get it. `page`: the
 * children are a whole page.
 */
export function RequireEntitlement({
  entitlement,
  what,
  page = false,
  children,
}: RequireEntitlementProps) {
  const { subscription_status, subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  if (entitlements.includes(entitlement)) return <>{children}</>

  if (subscription_status === 'past_due' && subscription_tier === 'free') {
    return (
      <Notice
        icon={IconLock}
        order={page ? 1 : 2}
        title="Your plan is suspended"
        action={<LinkButton to="/billing">Go to billing</LinkButton>}
      >
        Pay or resume your plan to continue. Your data is kept.
      </Notice>
    )
  }
  const names = findPlans(plans, entitlement)
  return (
    <Notice
      icon={IconLock}
      order={page ? 1 : 2}
      title={`Upgrade to ${names[0] ?? 'another plan'} to use ${what}`}
      action={<LinkButton to="/pricing">See plans</LinkButton>}
    >
      {`You are on the ${planName(plans, subscription_tier)} plan. `}
      {names.length > 0 && `${what} is part of ${new Intl.ListFormat('en-GB').format(names)}.`}
    </Notice>
  )
}
