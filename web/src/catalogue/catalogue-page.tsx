import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { readQuery } from '../api/queries.ts'
import type { Catalogue } from '../api/types.ts'
import { plural } from '../components/format.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { PlanPanel } from './plan-panel.tsx'

/** The plans as customers get them. The file or the settings have them, so nothing is edited. */
export function CataloguePage() {
  const catalogue = useQuery({
    ...readQuery(['admin', 'catalogue'], '/api/admin/catalogue'),
    staleTime: 0,
  })
  return (
    <Page
      title={t('Catalogue')}
      lead={t('Plans with their prices and limits, and how many accounts have each.')}
      wide
      actions={
        <LinkButton to="/shop/products" variant="default">
          {t('Products')}
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
      {plans_file === null
        ? rich(
            'These are the built-in plans. To change them, copy {0} and set {1} to the copy.',
            <code>docs/catalogue.json</code>,
            <code>CATALOGUE</code>,
          )
        : rich(
            'The plans are in {0}. Edit that file, then restart the service.',
            <code>{plans_file}</code>,
          )}{' '}
      {rich(
        'Amounts are set at Stripe; {0} creates missing prices.',
        <TextLink to="/run/setup">{t('Setup')}</TextLink>,
      )}{' '}
      {products_file === null
        ? rich(
            'Products are edited in the {0}.',
            <TextLink to="/shop/products">{t('Shop')}</TextLink>,
          )
        : rich('Products are in {0}.', <code>{products_file}</code>)}
    </Text>
  )
}

/** Accounts and subscriptions that belong to no plan of the catalogue. */
function Strays({ catalogue: { dropped_plans, unknown_prices } }: { catalogue: Catalogue }) {
  if (dropped_plans.length === 0 && unknown_prices.length === 0) return null
  return (
    <Panel title={t('Not in the catalogue')}>
      <Text component="ul" size="sm" mt="xs" ps="md">
        {dropped_plans.map(({ tier, accounts }) => (
          <li key={tier}>
            {rich(
              '{0} on the plan {1}, which grants nothing.',
              <TextLink to="/customers" search={{ plan: tier }}>
                {plural(accounts, 'account')}
              </TextLink>,
              <code>{tier}</code>,
            )}
          </li>
        ))}
        {unknown_prices.map(({ price_id, subscribers }) => (
          <li key={price_id}>
            {rich(
              '{0} to the price {1}, which belongs to no plan.',
              plural(subscribers, 'subscription'),
              <code>{price_id}</code>,
            )}
          </li>
        ))}
      </Text>
    </Panel>
  )
}
