import { Skeleton } from '@mantine/core'
import { IconUserOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { inUnits } from '#platform/money.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Customer } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { TierBadge } from '../components/plan-badge.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
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
        title={t('No such customer')}
        action={<LinkButton to="/customers">{t('Go to customers')}</LinkButton>}
      >
        {t('The account may have been deleted.')}
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
          <span>{rich('{0}since {1}', full_name && `${email}, `, formatDay(created_at))}</span>
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
      <Stat label="MRR" note={mrr ? t('Before discounts and tax') : t('No paid subscription')}>
        {mrr ? formatMoney(inUnits(mrr.cents, mrr.currency), mrr.currency) : formatMoney(0, 'USD')}
      </Stat>
      <Stat label={t('Revenue, 30 days')} note={t('After refunds, fees and tax')}>
        {revenue.length === 0
          ? formatMoney(0, 'USD')
          : revenue
              .map(({ cents, currency }) => formatMoney(inUnits(cents, currency), currency))
              .join(', ')}
      </Stat>
      <Stat label={t('Model cost, 30 days')} note={t('At vendors’ prices')}>
        {formatMoney(cost_usd, 'USD')}
      </Stat>
      <Stat
        label={t('Margin, 30 days')}
        note={
          revenueUsd > 0
            ? t('{0} % of revenue', Math.round(((margin_usd ?? 0) / revenueUsd) * 100))
            : t('No revenue in dollars')
        }
      >
        <span className={margin_usd !== null && margin_usd < 0 ? classes.bad : undefined}>
          {margin_usd === null ? '–' : formatMoney(margin_usd, 'USD')}
        </span>
      </Stat>
    </StatGrid>
  )
}
