import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Catalogue } from '../api/types.ts'
import { plural } from '../components/format.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { PlanPanel } from './plan-panel.tsx'

/** The plans as customers get them. The file or the settings have them, so nothing is edited. */
export function CataloguePage() {
  const catalogue = useQuery({
    queryKey: ['admin', 'catalogue'],
    queryFn: ({ signal }) => api.get('/api/admin/catalogue', { signal }),
    staleTime: 0,
  })
  return (
    <Page
      title="Catalogue"
      lead="Plans with their prices and limits, and how many accounts have each."
      wide
      actions={
        <LinkButton to="/shop/products" variant="default">
          Products
        </LinkButton>
      }
    >
      <Loaded query={catalogue} skeleton={<Skeleton h={420} />}>
        {(data) => (
          <Stack gap="md">
            <Source catalogue={data} />
            <Strays catalogue={data} />
            <div className={layout.facts}>
              {data.plans.map((plan) => (
                <PlanPanel key={plan.tier} plan={plan} />
              ))}
            </div>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** What to edit to change the plans. */
function Source({ catalogue: { plans_file, products_file } }: { catalogue: Catalogue }) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {plans_file === null ? (
        <>
          These are the built-in plans. To change them, copy <code>docs/catalogue.json</code> and
          set <code>CATALOGUE</code> to the copy.
        </>
      ) : (
        <>
          The plans are in <code>{plans_file}</code>. Edit that file, then restart the service.
        </>
      )}{' '}
      Amounts are set at Stripe; <TextLink to="/run/setup">Setup</TextLink> creates missing prices.{' '}
      {products_file === null ? (
        <>
          Products are edited in the <TextLink to="/shop/products">Shop</TextLink>.
        </>
      ) : (
        <>
          Products are in <code>{products_file}</code>.
        </>
      )}
    </Text>
  )
}

/** Accounts and subscriptions that belong to no plan of the catalogue. */
function Strays({ catalogue: { dropped_plans, unknown_prices } }: { catalogue: Catalogue }) {
  if (dropped_plans.length === 0 && unknown_prices.length === 0) return null
  return (
    <Panel title="Not in the catalogue">
      <Text component="ul" size="sm" mt="xs" ps="md">
        {dropped_plans.map(({ tier, accounts }) => (
          <li key={tier}>
            <TextLink to="/customers" search={{ plan: tier }}>
              {plural(accounts, 'account')}
            </TextLink>{' '}
            on the plan <code>{tier}</code>, which grants nothing.
          </li>
        ))}
        {unknown_prices.map(({ price_id, subscribers }) => (
          <li key={price_id}>
            {plural(subscribers, 'subscription')} to the price <code>{price_id}</code>, which
            belongs to no plan.
          </li>
        ))}
      </Text>
    </Panel>
  )
}
