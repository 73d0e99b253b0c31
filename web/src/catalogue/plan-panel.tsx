import { Badge, Group, Text } from '@mantine/core'
import type { CataloguePlan, CataloguePrice } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { DataTable } from '../components/data-table.tsx'
import { formatBytes, formatCount, formatDollars, plural } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { translateFeature } from '../pricing/feature-text.ts'
import { formatPrice } from '../shop/amount.ts'
import { Fact, Panel } from '../shop/facts.tsx'
import classes from './plan-panel.module.css'

export function PlanPanel({ plan }: { plan: CataloguePlan }) {
  const { tier, name, accounts, prices } = plan
  return (
    <Panel
      title={name}
      aside={
        <TextLink to="/customers" search={{ plan: tier }} size="sm">
          {plural(accounts, 'account')}
        </TextLink>
      }
    >
      {prices.length > 0 && <PriceTable name={name} prices={prices} />}
      <div className={classes.columns}>
        <dl>
          <Fact label={t('Tier')}>
            <code>{tier}</code>
          </Fact>
          <Fact label={t('Grants')}>
            <Group gap={6}>
              {plan.grants.map((grant) => (
                <Badge key={grant} color="gray">
                  {grant}
                </Badge>
              ))}
              {plan.grants.length === 0 && t('Nothing')}
            </Group>
          </Fact>
          {plan.trial_days > 0 && <Fact label={t('Trial')}>{describeTrial(plan)}</Fact>}
          {listLimits(plan).map(([label, limit]) => (
            <Fact key={label} label={label}>
              {limit}
            </Fact>
          ))}
        </dl>
        {plan.features.length > 0 && (
          <div>
            <h3 className={classes.title}>{t('On the pricing page')}</h3>
            <ul className={classes.features}>
              {plan.features.map((feature) => (
                <li key={feature}>{translateFeature(feature)}</li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  )
}

function PriceTable({ name, prices }: { name: string; prices: readonly CataloguePrice[] }) {
  return (
    <DataTable
      label={t('Prices of {0}', name)}
      className="numbers"
      mt="xs"
      highlightOnHover={false}
      rows={prices}
      getKey={({ interval }) => interval}
      columns={[
        {
          head: t('Price'),
          cell: (price) => (
            <>
              {describePrice(price)}
              <Text c="dimmed" size="sm">
                {price.interval === 'month' ? t('Monthly') : t('Yearly')}
              </Text>
            </>
          ),
        },
        {
          head: t('At Stripe'),
          cell: ({ price_id, setting, interval }) =>
            price_id === null ? (
              <Text size="sm">{rich('None. Set {0}.', <code>{setting}</code>)}</Text>
            ) : (
              <>
                <span className="mono" style={{ overflowWrap: 'anywhere' }}>
                  {price_id}
                </span>
                <CopyIcon value={price_id} what={t('price ID of {0}, {1}', name, interval)} />
                <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {setting}
                </Text>
              </>
            ),
        },
        {
          head: t('Subscribers'),
          ta: 'right',
          cell: ({ subscribers, trials }) => (
            <>
              {formatCount(subscribers)}
              {trials > 0 && (
                <Text c="dimmed" size="sm">
                  {t('{0} in a trial', formatCount(trials))}
                </Text>
              )}
            </>
          ),
        },
      ]}
    />
  )
}

function describePrice({ price_id, amount, currency }: CataloguePrice): string {
  if (price_id === null) return t('Not for sale')
  return amount === null || currency === null ? t('Unknown') : formatPrice(amount, currency)
}

function describeTrial({ trial_days, trial_allowance_usd }: CataloguePlan): string {
  const days = plural(trial_days, 'day')
  return trial_allowance_usd === null
    ? days
    : t('{0}, up to {1} of calls', days, formatDollars(trial_allowance_usd))
}

/** Limits without a value are left out: they do not apply. */
function listLimits({ allowance_usd, tokens_max, limits }: CataloguePlan): [string, string][] {
  const of = (label: string, value: number | null, format: (n: number) => string) =>
    value === null ? [] : [[label, format(value)] as [string, string]]
  return [
    ...of(t('Usage a month'), allowance_usd, formatDollars),
    ...of(t('Tokens a month'), tokens_max, formatCount),
    ...of(t('Documents'), limits.documents_max, formatCount),
    ...of(t('Characters'), limits.characters_max, formatCount),
    ...of(t('Chunks'), limits.chunks_max, formatCount),
    ...of(t('Uploaded files'), limits.file_bytes_max, formatBytes),
    ...of(t('Tokens of an answer'), limits.output_tokens_max, formatCount),
    ...of(t('Answers at once'), limits.choices_max, formatCount),
  ]
}
