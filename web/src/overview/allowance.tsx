import { useQuery } from '@tanstack/react-query'
import { hasPaidPlan, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatCount, formatDollars } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { useUser } from '../session/user.ts'
import { useRenewal } from '../usage/renewal.ts'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import classes from './allowance.module.css'
import { Panel } from './panel.tsx'

const LOW = 0.2

/** The plan, what is left of its allowance, and what was used. */
export function Allowance() {
  const { subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  const { data: allowance } = useQuery(allowanceQuery)
  const { data: usage } = useQuery(usageQuery(30, 'day'))
  const renewal = useRenewal(allowance?.renews_at ?? null)
  const isPaid = hasPaidPlan(plans, subscription_tier, entitlements)

  return (
    <Panel
      title={`${planName(plans, subscription_tier)} plan`}
      aside={
        isPaid ? (
          <TextLink to="/billing">Manage</TextLink>
        ) : (
          <TextLink to="/pricing">See plans</TextLink>
        )
      }
    >
      {allowance?.limit_usd != null && (
        <Left
          limit={allowance.limit_usd}
          used={allowance.used_usd + allowance.reserved_usd}
          renewal={renewal}
        />
      )}
      <p className={classes.note}>
        {usage
          ? `${formatCount(usage.totals.requests)} calls in the last 30 days`
          : 'Counting your calls…'}
      </p>
    </Panel>
  )
}

function Left({ limit, used, renewal }: { limit: number; used: number; renewal: string }) {
  const left = Math.max(0, limit - used)
  const share = limit === 0 ? 0 : left / limit
  return (
    <>
      <p className={classes.left}>
        <b>{formatDollars(left)}</b> left of {formatDollars(limit)}
      </p>
      <meter
        className={classes.meter}
        aria-label="Allowance left"
        min={0}
        max={100}
        value={Math.round(share * 100)}
        data-low={share < LOW || undefined}
      />
      <p className={classes.note}>The allowance {renewal}.</p>
    </>
  )
}
