import { NumberInput, Select, SimpleGrid, Text } from '@mantine/core'
import { useState } from 'react'
import { inMinorUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import type { SetupState } from '../api/types.ts'
import { t } from '../language/text.ts'
import { StepForm } from './step-form.tsx'

const INTERVALS = [
  { interval: 'month', label: t('a month') },
  { interval: 'year', label: t('a year') },
] as const

export function PlansForm({ state }: { state: SetupState }) {
  const [currency, setCurrency] = useState('usd')
  const [amounts, setAmounts] = useState<Record<string, string | number>>({})
  const fields = state.plans.plans.flatMap(({ tier, name, prices }) =>
    INTERVALS.map(({ interval, label }) => ({
      id: `${tier}/${interval}`,
      tier,
      interval,
      label: `${name} ${label}`,
      isSold: prices[interval],
    })),
  )
  if (state.payments.state === 'sandbox' || state.payments.state === 'off')
    return (
      <Text size="sm">
        {t('Save a Stripe key first. The sandbox invents the prices of plans.')}
      </Text>
    )
  const save = () =>
    api.post('/api/admin/setup/plans', {
      currency,
      prices: fields.flatMap(({ id, tier, interval }) =>
        Number(amounts[id] ?? 0) > 0
          ? [{ tier, interval, amount: inMinorUnits(Number(amounts[id]), currency) }]
          : [],
      ),
    })
  return (
    <StepForm name={t('Plans')} action={t('Create prices')} done={t('Prices created')} save={save}>
      <Text size="sm">
        {t('The prices are created in your Stripe account. Leave out what you do not sell.')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} w="100%">
        {fields.map(({ id, label, isSold }) => (
          <NumberInput
            key={id}
            label={label}
            {...(isSold && { description: t('For sale. A new price replaces it.') })}
            min={0}
            decimalScale={2}
            hideControls
            value={amounts[id] ?? ''}
            onChange={(value) => setAmounts((before) => ({ ...before, [id]: value }))}
          />
        ))}
      </SimpleGrid>
      <Select
        label={t('Currency')}
        data={['usd', 'eur', 'gbp', 'chf', 'jpy'].map((value) => ({
          value,
          label: value.toUpperCase(),
        }))}
        allowDeselect={false}
        value={currency}
        onChange={(value) => setCurrency(value ?? 'usd')}
      />
    </StepForm>
  )
}
