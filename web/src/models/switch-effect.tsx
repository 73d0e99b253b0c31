import { List, Stack, Text } from '@mantine/core'
import type { SwitchEffect, SwitchEffectOnModel } from '../api/types.ts'
import { formatCompact, formatDollars } from '../components/format.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
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
        <Text>{t('The default model stays {0}.', byDefault.after ?? 'unset')}</Text>
      ) : (
        <Text>
          {rich(
            'The default model, which the app’s chat uses, is {0}. Its calls {1}.',
            <b>{byDefault.before}</b>,
            <Outcome to={byDefault.after} ratio={byDefault.price_ratio} />,
          )}
        </Text>
      )}
      {used.length === 0 ? (
        <Text>
          {t(
            'No user called {0} by name in the last {1} days.',
            models.length === 1 ? t('this model') : t('these models'),
            days,
          )}
        </Text>
      ) : (
        <>
          <Text>{t('Average calls per day over the last {0} days:', days)}</Text>
          <List>
            {used.slice(0, SHOWN_MAX).map((model) => (
              <List.Item key={model.model}>
                <ModelEffect {...model} />
              </List.Item>
            ))}
          </List>
          {hiddenCount > 0 && (
            <Text>{t('And {0} more models with fewer calls.', hiddenCount)}</Text>
          )}
        </>
      )}
      {changed.map(({ alias, after }) => (
        <Text key={alias}>
          {rich(
            'The alias {0} {1}.',
            <b>{alias}</b>,
            after === null ? t('has no models left') : t('now starts with {0}', after),
          )}
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
      {rich(
        '{0}: {1} ({2}). Calls that name it {3}.',
        <b>{model}</b>,
        formatCompact(calls_per_day),
        formatDollars(cost_usd_per_day),
        <Outcome to={stand_in} ratio={price_ratio} />,
      )}
    </>
  )
}

function Outcome({ to, ratio }: { to: string | null; ratio: number | null }) {
  if (to === null) return <b>{t('will be refused')}</b>
  return <>{rich('will go to {0}, {1}', <b>{to}</b>, priceEffect(ratio))}</>
}
