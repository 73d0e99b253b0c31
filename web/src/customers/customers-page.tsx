import { Group, Skeleton, Text } from '@mantine/core'
import { IconUserSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { readQuery } from '../api/queries.ts'
import type { AdminUser, SubscriptionStatus } from '../api/types.ts'
import { usePlans } from '../billing/use-plans.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import { SearchField, SelectFilter } from '../components/filters.tsx'
import { formatAge, formatCount, formatDay, formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Pages } from '../components/pages.tsx'
import { TierBadge } from '../components/plan-badge.tsx'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import { CustomerSections } from './customer-sections.tsx'
import { customersQuery } from './customers-query.ts'
import { StateBadges } from './state-badges.tsx'

const route = getRouteApi('/app/run/customers')

export function CustomersPage() {
  const filters = route.useSearch()
  const customers = useQuery({
    ...customersQuery(filters),
    placeholderData: (previous) => previous,
  })
  return (
    <Page title={t('Customers')} lead={<Counts />} wide>
      <CustomerSections />
      <Filters />
      <section aria-label={t('All customers')}>
        <Loaded query={customers} skeleton={<Skeleton h={420} />}>
          {(data) =>
            data.users.length === 0 ? (
              <Notice icon={IconUserSearch} title={t('No customers found')}>
                {t(
                  'Search by any part of a name or email address, or by a whole license key, invoice number, request ID, or the last four digits of a card.',
                )}
              </Notice>
            ) : (
              <>
                <DataTable
                  label={t('Customers')}
                  rows={data.users}
                  getKey={({ id }) => id}
                  columns={COLUMNS}
                />
                <Pages paged={data} what={t('customer')} />
              </>
            )
          }
        </Loaded>
      </section>
    </Page>
  )
}

/** Counts all accounts: the list's own count is of the search. */
function Counts() {
  const { data } = useQuery(readQuery(['customers', 'stats'], '/api/admin/stats'))
  if (data === undefined) return t('Everyone with an account, newest first.')
  const { total_users, active_subscriptions, new_users_7d } = data
  return t(
    '{0}, {1} with a subscription, {2} new in 7 days.',
    plural(total_users, 'account'),
    formatCount(active_subscriptions),
    formatCount(new_users_7d),
  )
}

const STATUSES: { value: SubscriptionStatus; label: string }[] = [
  { value: 'active', label: t('Active') },
  { value: 'past_due', label: t('Payment due') },
  { value: 'cancelled', label: t('Cancelled') },
  { value: 'free', label: t('No subscription') },
]

function Filters() {
  const plans = usePlans()
  return (
    <Group gap="sm" mb="md" align="flex-start">
      <SearchField
        flex="1 1 18rem"
        aria-label={t('Search customers')}
        placeholder={t('Name, email, license key, invoice, request ID or card’s last four')}
      />
      <SelectFilter
        name="plan"
        aria-label={t('Plan')}
        placeholder={t('Any plan')}
        w={{ base: 'calc(50% - 6px)', xs: 160 }}
        data={plans.map(({ tier, name }) => ({ value: tier, label: name }))}
      />
      <SelectFilter
        name="status"
        aria-label={t('Status')}
        placeholder={t('Any status')}
        w={{ base: 'calc(50% - 6px)', xs: 180 }}
        data={STATUSES}
      />
    </Group>
  )
}

/** Phones show name, plan and status. */
const COLUMNS: Column<AdminUser>[] = [
  {
    head: t('Customer'),
    cell: (customer) => (
      <>
        <Link to="/customers/$id" params={{ id: customer.id }} className={classes.open}>
          {customer.full_name ?? customer.email}
        </Link>
        {customer.full_name && (
          <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {customer.email}
          </Text>
        )}
        <Group gap={6} mt={4} hiddenFrom="sm">
          <TierBadge tier={customer.subscription_tier} />
          <StateBadges customer={customer} />
        </Group>
      </>
    ),
  },
  {
    head: t('Plan'),
    visibleFrom: 'sm',
    cell: ({ subscription_tier }) => <TierBadge tier={subscription_tier} />,
  },
  {
    head: t('Status'),
    visibleFrom: 'sm',
    cell: (customer) => (
      <Group gap={6}>
        <StateBadges customer={customer} />
      </Group>
    ),
  },
  {
    head: t('Joined'),
    visibleFrom: 'md',
    breaks: 'nowhere',
    cell: ({ created_at }) => formatDay(created_at),
  },
  {
    head: t('Last sign-in'),
    visibleFrom: 'md',
    breaks: 'nowhere',
    title: ({ last_login_at }) => (last_login_at ? formatTime(last_login_at) : undefined),
    cell: ({ last_login_at }) => (last_login_at ? formatAge(last_login_at) : t('Never')),
  },
]
