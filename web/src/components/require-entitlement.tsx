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

/** Shows its children to those whose plan grants them, and others which plan does; who has one that is closed is led to what opens it. `page`: they are a whole page. */
export function RequireEntitlement({
  entitlement,
  what,
  page = false,
  children,
}: RequireEntitlementProps) {
  const { subscription_status, subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  if (entitlements.includes(entitlement)) return <>{children}</>

  if (subscription_status === 'past_due' && entitlements.length === 0) {
    return (
      <Notice
        icon={IconLock}
        order={page ? 1 : 2}
        title="Your plan is closed for now"
        action={<LinkButton to="/billing">See billing</LinkButton>}
      >
        It opens again as soon as it is paid or resumed. What you have stored is kept.
      </Notice>
    )
  }
  const names = findPlans(plans, entitlement)
  return (
    <Notice
      icon={IconLock}
      order={page ? 1 : 2}
      title={`${what} with ${names[0] ?? 'another plan'}`}
      action={<LinkButton to="/pricing">See the plans</LinkButton>}
    >
      {`Your account is on the ${planName(plans, subscription_tier)} plan. `}
      {names.length > 0 && `This is part of ${new Intl.ListFormat('en-GB').format(names)}.`}
    </Notice>
  )
}
