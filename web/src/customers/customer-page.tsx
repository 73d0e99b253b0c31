import { Skeleton } from '@mantine/core'
import { IconUserOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { inUnits } from '#platform/money.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Customer } from '../api/types.ts'
import { formatDay, formatDollars, formatMoney } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { TierBadge } from '../components/plan-badge.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import layout from '../shop/order-page.module.css'
import { CustomerActions } from './customer-actions.tsx'
import { CustomerFacts } from './customer-facts.tsx'
import classes from './customer-page.module.css'
import { CustomerTimeline } from './customer-timeline.tsx'
import { customerQuery } from './customers-query.ts'
import { StateBadges } from './state-badges.tsx'

const route = getRouteApi('/app/run/customers/$id')

export function CustomerPage() {
  const { id } = route.useParams()
  const customer = useQuery(customerQuery(id))
  if (customer.error instanceof ApiProblem && [404, 422].includes(customer.error.status)) {
    return (
      <Notice
        order={1}
        icon={IconUserOff}
        title="No such customer"
        action={<LinkButton to="/customers">Go to customers</LinkButton>}
      >
        The account may have been deleted.
      </Notice>
    )
  }
  return (
    <Loaded query={customer} skeleton={<Skeleton h={480} />}>
      {(data) => <CustomerView key={data.id} customer={data} />}
    </Loaded>
  )
}

function CustomerView({ customer }: { customer: Customer }) {
  const { id, email, full_name, created_at } = customer
  return (
    <Page
      title={full_name ?? email}
      lead={
        <span className={classes.lead}>
          <TierBadge tier={customer.subscription_tier} />
          <StateBadges customer={customer} />
          <span>
            {full_name && `${email}, `}since {formatDay(created_at)}
          </span>
        </span>
      }
      wide
      actions={<CustomerActions customer={customer} />}
    >
      <div className={classes.figures}>
        <Figures customer={customer} />
      </div>
      <div className={layout.columns}>
        <CustomerFacts customer={customer} />
        <CustomerTimeline id={id} />
      </div>
    </Page>
  )
}

function Figures({ customer: { subscription, margin_30d } }: { customer: Customer }) {
  const { revenue, cost_usd, margin_usd } = margin_30d
  const mrr = subscription?.mrr
  const revenueUsd = margin_usd === null ? 0 : margin_usd + cost_usd
  return (
    <StatGrid>
      <Stat label="MRR" note={mrr ? 'Before discounts and tax' : 'No paid subscription'}>
        {mrr ? formatMoney(inUnits(mrr.cents, mrr.currency), mrr.currency) : '$0'}
      </Stat>
      <Stat label="Revenue, 30 days" note="After refunds, fees and tax">
        {revenue.length === 0
          ? '$0'
          : revenue
              .map(({ cents, currency }) => formatMoney(inUnits(cents, currency), currency))
              .join(', ')}
      </Stat>
      <Stat label="Model cost, 30 days" note="At vendors’ prices">
        {formatDollars(cost_usd)}
      </Stat>
      <Stat
        label="Margin, 30 days"
        note={
          revenueUsd > 0
            ? `${Math.round(((margin_usd ?? 0) / revenueUsd) * 100)} % of revenue`
            : 'No revenue in dollars'
        }
      >
        <span className={margin_usd !== null && margin_usd < 0 ? classes.bad : undefined}>
          {margin_usd === null ? '–' : formatDollars(margin_usd)}
        </span>
      </Stat>
    </StatGrid>
  )
}
