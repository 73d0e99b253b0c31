import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Entitlement } from '../api/types.ts'
import { planName, plansWith } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { useUser } from '../session/user.ts'
import { LinkButton } from './links.tsx'
import { Notice } from './notice.tsx'

type RequireEntitlementProps = { entitlement: Entitlement; what: string; page?: boolean; children: ReactNode }

/** Shows its children to those whose plan grants them, and others which plan does. `page`: they are a whole page. */
export function RequireEntitlement({ entitlement, what, page = false, children }: RequireEntitlementProps) {
  const { subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  if (entitlements.includes(entitlement)) return <>{children}</>

  const names = plansWith(plans, entitlement)
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
