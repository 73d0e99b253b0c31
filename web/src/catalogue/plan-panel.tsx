import { Badge, Group, Table, Text } from '@mantine/core'
import { formatMoney } from '#platform/money.ts'
import type { CataloguePlan, CataloguePrice } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { formatBytes, formatCount, formatDollars, plural } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { Fact, Panel } from '../shop/facts.tsx'

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
      <dl>
        <Fact label="Tier">
          <code>{tier}</code>
        </Fact>
        <Fact label="Grants">
          <Group gap={6}>
            {plan.grants.map((grant) => (
              <Badge key={grant} color="gray">
                {grant}
              </Badge>
            ))}
            {plan.grants.length === 0 && 'Nothing'}
          </Group>
        </Fact>
        {plan.trial_days > 0 && <Fact label="Trial">{describeTrial(plan)}</Fact>}
        {listLimits(plan).map(([label, limit]) => (
          <Fact key={label} label={label}>
            {limit}
          </Fact>
        ))}
      </dl>
      {plan.features.length > 0 && (
        <Text component="ul" size="sm" c="dimmed" mt="sm" mb={0} ps="md">
          {plan.features.map((feature) => (
            <li key={feature}>{feature}</li>
          ))}
        </Text>
      )}
    </Panel>
  )
}

function PriceTable({ name, prices }: { name: string; prices: readonly CataloguePrice[] }) {
  return (
    <ScrollX label={`Prices of ${name}`}>
      <Table className="numbers" mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Price</Table.Th>
            <Table.Th>At Stripe</Table.Th>
            <Table.Th ta="right">Subscribers</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {prices.map((price) => (
            <Table.Tr key={price.interval}>
              <Table.Td>
                {describePrice(price)}
                <Text c="dimmed" size="sm">
                  {price.interval === 'month' ? 'Monthly' : 'Yearly'}
                </Text>
              </Table.Td>
              <Table.Td>
                {price.price_id === null ? (
                  <Text size="sm">
                    None. Set <code>{price.setting}</code>.
                  </Text>
                ) : (
                  <>
                    <span className="mono" style={{ overflowWrap: 'anywhere' }}>
                      {price.price_id}
                    </span>
                    <CopyIcon
                      value={price.price_id}
                      what={`price ID of ${name}, ${price.interval}`}
                    />
                    <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
                      {price.setting}
                    </Text>
                  </>
                )}
              </Table.Td>
              <Table.Td ta="right">
                {formatCount(price.subscribers)}
                {price.trials > 0 && (
                  <Text c="dimmed" size="sm">
                    {formatCount(price.trials)} in a trial
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function describePrice({ price_id, amount, currency }: CataloguePrice): string {
  if (price_id === null) return 'Not for sale'
  return amount === null || currency === null ? 'Unknown' : formatMoney(amount, currency)
}

function describeTrial({ trial_days, trial_allowance_usd }: CataloguePlan): string {
  const days = plural(trial_days, 'day')
  return trial_allowance_usd === null
    ? days
    : `${days}, up to ${formatDollars(trial_allowance_usd)} of calls`
}

/** Limits without a value are left out: they do not apply. */
function listLimits({ allowance_usd, tokens_max, limits }: CataloguePlan): [string, string][] {
  const of = (label: string, value: number | null, format: (n: number) => string) =>
    value === null ? [] : [[label, format(value)] as [string, string]]
  return [
    ...of('Usage a month', allowance_usd, formatDollars),
    ...of('Tokens a month', tokens_max, formatCount),
    ...of('Documents', limits.documents_max, formatCount),
    ...of('Characters', limits.characters_max, formatCount),
    ...of('Chunks', limits.chunks_max, formatCount),
    ...of('Uploaded files', limits.file_bytes_max, formatBytes),
    ...of('Tokens of an answer', limits.output_tokens_max, formatCount),
    ...of('Answers at once', limits.choices_max, formatCount),
  ]
}
