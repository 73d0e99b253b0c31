import { Group, Select, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch, IconUserSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type { AdminUser, SubscriptionStatus } from '../api/types.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatAge, formatCount, formatDay, formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Pages } from '../components/pages.tsx'
import { TierBadge } from '../components/plan-badge.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import classes from '../shop/table.module.css'
import { CustomerSections } from './customer-sections.tsx'
import { type CustomerFilters, customersQuery } from './customers-query.ts'
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
      <Filters filters={filters} />
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
                <CustomerTable customers={data.users} />
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
  const { data } = useQuery({
    queryKey: ['customers', 'stats'],
    queryFn: ({ signal }) => api.get('/api/admin/stats', { signal }),
  })
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

function Filters({ filters }: { filters: CustomerFilters }) {
  const navigate = route.useNavigate()
  const plans = usePlans()
  const set = (next: CustomerFilters) =>
    void navigate({
      search: (search) => ({ ...search, page: undefined, ...next }),
      replace: true,
      resetScroll: false,
    })
  const search = useDebouncedCallback((q: string) => set({ q: q.trim() || undefined }), 250)
  return (
    <Group gap="sm" mb="md" align="flex-start">
      <TextInput
        type="search"
        flex="1 1 18rem"
        aria-label={t('Search customers')}
        placeholder={t('Name, email, license key, invoice, request ID or card’s last four')}
        leftSection={<IconSearch size={18} aria-hidden />}
        maxLength={254}
        defaultValue={filters.q ?? ''}
        onChange={({ currentTarget: { value } }) => search(value)}
      />
      <Select
        aria-label={t('Plan')}
        placeholder={t('Any plan')}
        clearable
        w={{ base: 'calc(50% - 6px)', xs: 160 }}
        value={filters.plan ?? null}
        onChange={(plan) => set({ plan: plan ?? undefined })}
        data={plans.map(({ tier, name }) => ({ value: tier, label: name }))}
      />
      <Select
        aria-label={t('Status')}
        placeholder={t('Any status')}
        clearable
        w={{ base: 'calc(50% - 6px)', xs: 180 }}
        value={filters.status ?? null}
        onChange={(status) => set({ status: (status as SubscriptionStatus | null) ?? undefined })}
        data={STATUSES}
      />
    </Group>
  )
}

/** One row per customer; phones show name, plan and status. */
function CustomerTable({ customers }: { customers: AdminUser[] }) {
  return (
    <ScrollX label={t('Customers')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Customer')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Plan')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('Status')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Joined')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Last sign-in')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {customers.map((customer) => (
            <Row key={customer.id} customer={customer} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function Row({ customer }: { customer: AdminUser }) {
  const { id, email, full_name, created_at, last_login_at } = customer
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/customers/$id" params={{ id }} className={classes.open}>
          {full_name ?? email}
        </Link>
        {full_name && (
          <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {email}
          </Text>
        )}
        <Group gap={6} mt={4} hiddenFrom="sm">
          <TierBadge tier={customer.subscription_tier} />
          <StateBadges customer={customer} />
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <TierBadge tier={customer.subscription_tier} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Group gap={6}>
          <StateBadges customer={customer} />
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md" className={classes.whole}>
        {formatDay(created_at)}
      </Table.Td>
      <Table.Td
        visibleFrom="md"
        className={classes.whole}
        title={last_login_at ? formatTime(last_login_at) : undefined}
      >
        {last_login_at ? formatAge(last_login_at) : t('Never')}
      </Table.Td>
    </Table.Tr>
  )
}
