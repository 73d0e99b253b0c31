import { List, Stack, Text } from '@mantine/core'
import type { SwitchEffect, SwitchEffectOnModel } from '../api/types.ts'
import { formatCompact, formatDollars } from '../components/format.ts'
import { priceEffect } from './price-effect.ts'

const SHOWN_MAX = 6

/** Shows which models would answer, and at what cost, once a model or a vendor is off. */
export function SwitchEffectView({ effect }: { effect: SwitchEffect }) {
  const { days, default_model: byDefault, models, aliases } = effect
  const used = models.filter(({ calls_per_day: calls }) => calls > 0)
  const hiddenCount = used.length - SHOWN_MAX
  const changed = aliases.filter(({ before, after }) => before !== after)
  return (
    <Stack gap="sm">
      {byDefault.before === byDefault.after ? (
        <Text>The default model stays {byDefault.after ?? 'unset'}.</Text>
      ) : (
        <Text>
          The default model, which the app’s chat uses, is <b>{byDefault.before}</b>. Its calls{' '}
          <Outcome to={byDefault.after} ratio={byDefault.price_ratio} />.
        </Text>
      )}
      {used.length === 0 ? (
        <Text>
          No user called {models.length === 1 ? 'this model' : 'these models'} by name in the last{' '}
          {days} days.
        </Text>
      ) : (
        <>
          <Text>Average calls per day over the last {days} days:</Text>
          <List>
            {used.slice(0, SHOWN_MAX).map((model) => (
              <List.Item key={model.model}>
                <ModelEffect {...model} />
              </List.Item>
            ))}
          </List>
          {hiddenCount > 0 && <Text>And {hiddenCount} more models with fewer calls.</Text>}
        </>
      )}
      {changed.map(({ alias, after }) => (
        <Text key={alias}>
          The alias <b>{alias}</b>{' '}
          {after === null ? 'has no models left' : `now starts with ${after}`}.
        </Text>
      ))}
    </Stack>
  )
}

function ModelEffect({
  model,
  calls_per_day,
  cost_usd_per_day,
  stand_in,
  price_ratio,
}: SwitchEffectOnModel) {
  return (
    <>
      <b>{model}</b>: {formatCompact(calls_per_day)} ({formatDollars(cost_usd_per_day)}). Calls that
      name it <Outcome to={stand_in} ratio={price_ratio} />.
    </>
  )
}

function Outcome({ to, ratio }: { to: string | null; ratio: number | null }) {
  if (to === null) return <b>will be refused</b>
  return (
    <>
      will go to <b>{to}</b>, {priceEffect(ratio)}
    </>
  )
}
