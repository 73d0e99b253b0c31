import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { hasPaidPlan, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatDollars, plural } from '../components/format.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { fillDays, listDays } from '../usage/days.ts'
import { useRenewal } from '../usage/renewal.ts'
import { allowanceQuery, usageQuery } from '../usage/usage-query.ts'
import classes from './allowance.module.css'
import { Panel } from './panel.tsx'

const LOW = 0.2
export const DAYS = 30

/** The plan, what is left of its allowance, and what was used. */
export function Allowance() {
  const { subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  const { data: allowance } = useQuery(allowanceQuery)
  const { data: usage } = useQuery(usageQuery(DAYS, 'day'))
  const renewal = useRenewal(allowance?.renews_at ?? null)
  const isPaid = hasPaidPlan(plans, subscription_tier, entitlements)

  return (
    <Panel
      title={t('{0} plan', planName(plans, subscription_tier))}
      aside={
        isPaid ? (
          <Link to="/billing">{t('Manage')}</Link>
        ) : (
          <Link to="/pricing">{t('See plans')}</Link>
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
      {usage && (
        <>
          {usage.totals.requests > 0 && (
            <DayBars
              days={fillDays(usage.groups, listDays(new Date(), DAYS)).map(
                ({ requests }) => requests,
              )}
            />
          )}
          <p className={classes.note}>
            {rich(
              '{0} in the last {1} days',
              <Link to="/usage">{plural(usage.totals.requests, 'call')}</Link>,
              DAYS,
            )}
          </p>
        </>
      )}
    </Panel>
  )
}

function Left({ limit, used, renewal }: { limit: number; used: number; renewal: string }) {
  const left = Math.max(0, limit - used)
  const share = limit === 0 ? 0 : left / limit
  return (
    <>
      <p className={`${classes.left} numbers`}>
        {rich('{0} left of {1}', <b>{formatDollars(left)}</b>, formatDollars(limit))}
      </p>
      <meter
        className={classes.meter}
        aria-label={t('Allowance left')}
        min={0}
        max={100}
        value={Math.round(share * 100)}
        data-low={share < LOW || undefined}
      />
      <p className={classes.note}>{t('The allowance {0}.', renewal)}</p>
    </>
  )
}

/** Calls of each day; the number below says it in words. */
function DayBars({ days }: { days: number[] }) {
  const most = Math.max(1, ...days)
  return (
    <div className={classes.bars} aria-hidden>
      {days.map((calls, at) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: days stay in their order.
          key={at}
          style={{ height: `${Math.max(4, (100 * calls) / most)}%` }}
          data-none={calls === 0 || undefined}
        />
      ))}
    </div>
  )
}
