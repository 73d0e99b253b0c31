import { Checkbox, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { inMinorUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import { t } from '../language/text.ts'
import { FormDialog } from './form-dialog.tsx'
import { productsQuery } from './products-query.ts'

type NewDiscountProps = { onClose: () => void; onCreated: () => Promise<unknown> }

const EMPTY = {
  code: '',
  unit: 'percent',
  value: '' as string | number,
  tiers: [] as string[],
  ownersOf: null as string | null,
  uses: '' as string | number,
  until: '',
}

export function NewDiscount({ onClose, onCreated }: NewDiscountProps) {
  const [form, setForm] = useState(EMPTY)
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }))
  const products = useQuery(productsQuery).data?.products ?? []
  const isPercent = form.unit === 'percent'
  const create = async () => {
    await api.post('/api/admin/discounts', readDiscount(form))
    await onCreated()
  }
  return (
    <FormDialog
      title={t('Create promotion code')}
      action={t('Create code')}
      done={t('Promotion code created')}
      onClose={onClose}
      onSubmit={create}
    >
      <Stack gap="sm">
        <TextInput
          label={t('Code')}
          description={t('Letters, digits, - and _. Buyers may type it in any case.')}
          pattern="[A-Za-z0-9_\-]{3,50}"
          minLength={3}
          maxLength={50}
          required
          withAsterisk={false}
          value={form.code}
          onChange={(event) => set({ code: event.currentTarget.value })}
        />
        <Group grow align="flex-end" wrap="nowrap">
          <NumberInput
            label={t('Discount')}
            min={0.01}
            {...(isPercent && { max: 100 })}
            decimalScale={2}
            hideControls
            required
            withAsterisk={false}
            value={form.value}
            onChange={(value) => set({ value })}
          />
          <Select
            aria-label={t('Unit of the discount')}
            data={UNITS}
            allowDeselect={false}
            value={form.unit}
            onChange={(unit) => set({ unit: unit ?? 'percent' })}
          />
        </Group>
        <Checkbox.Group
          label={t('Products')}
          description={t('None chosen: all. A code for some products works as a link only.')}
          value={form.tiers}
          onChange={(tiers) => set({ tiers })}
        >
          <Group gap="md" mt={4}>
            {products
              .filter(({ retired_at }) => retired_at === null)
              .map(({ tier, name }) => (
                <Checkbox key={tier} value={tier} label={name} />
              ))}
          </Group>
        </Checkbox.Group>
        <Select
          label={t('Only for owners of')}
          description={t('The code then works as a link, after the sign-in.')}
          placeholder={t('Everyone')}
          clearable
          value={form.ownersOf}
          onChange={(ownersOf) => set({ ownersOf })}
          data={products.map(({ tier, name }) => ({ value: tier, label: name }))}
        />
        <Group grow align="flex-start">
          <NumberInput
            label={t('Most uses')}
            placeholder={t('No limit')}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            hideControls
            value={form.uses}
            onChange={(uses) => set({ uses })}
          />
          <TextInput
            type="datetime-local"
            label={t('Until')}
            value={form.until}
            onChange={(event) => set({ until: event.currentTarget.value })}
          />
        </Group>
      </Stack>
    </FormDialog>
  )
}

const UNITS = [
  { value: 'percent', label: t('Percent') },
  ...['usd', 'eur', 'gbp', 'chf', 'jpy'].map((value) => ({ value, label: value.toUpperCase() })),
]

function readDiscount({ code, unit, value, tiers, ownersOf, uses, until }: typeof EMPTY) {
  return {
    code,
    ...(unit === 'percent'
      ? { percent_off: Number(value) }
      : { amount_off: inMinorUnits(Number(value), unit), currency: unit }),
    ...(tiers.length > 0 && { tiers }),
    ...(ownersOf !== null && { owners_of: ownersOf }),
    ...(uses !== '' && { redemptions_max: Number(uses) }),
    ...(until !== '' && { until: new Date(until).toISOString() }),
  }
}
