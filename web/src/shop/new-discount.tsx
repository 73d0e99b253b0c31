import { Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { inMinorUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import { FormDialog } from './form-dialog.tsx'

type NewDiscountProps = { onClose: () => void; onCreated: () => Promise<unknown> }

const EMPTY = {
  code: '',
  unit: 'percent',
  value: '' as string | number,
  tiers: '',
  ownersOf: '',
  uses: '' as string | number,
  until: '',
}

export function NewDiscount({ onClose, onCreated }: NewDiscountProps) {
  const [form, setForm] = useState(EMPTY)
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }))
  const isPercent = form.unit === 'percent'
  const create = async () => {
    await api.post('/api/admin/discounts', readDiscount(form))
    await onCreated()
  }
  return (
    <FormDialog
      title="Create promotion code"
      action="Create code"
      done="Promotion code created"
      onClose={onClose}
      onSubmit={create}
    >
      <Stack gap="sm">
        <TextInput
          label="Code"
          description="Letters, digits, - and _. Buyers may type it in any case."
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
            label="Discount"
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
            aria-label="Unit of the discount"
            data={UNITS}
            allowDeselect={false}
            value={form.unit}
            onChange={(unit) => set({ unit: unit ?? 'percent' })}
          />
        </Group>
        <TextInput
          label="Only for these products"
          description="Tiers, separated by commas. Empty: all products."
          value={form.tiers}
          onChange={(event) => set({ tiers: event.currentTarget.value })}
        />
        <TextInput
          label="Only for owners of"
          description="A tier. The code then works as a link, after the sign-in."
          value={form.ownersOf}
          onChange={(event) => set({ ownersOf: event.currentTarget.value })}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Most uses"
            placeholder="No limit"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            hideControls
            value={form.uses}
            onChange={(uses) => set({ uses })}
          />
          <TextInput
            type="datetime-local"
            label="Until"
            value={form.until}
            onChange={(event) => set({ until: event.currentTarget.value })}
          />
        </Group>
      </Stack>
    </FormDialog>
  )
}

const UNITS = [
  { value: 'percent', label: 'Percent' },
  ...['usd', 'eur', 'gbp', 'chf', 'jpy'].map((value) => ({ value, label: value.toUpperCase() })),
]

function readDiscount({ code, unit, value, tiers, ownersOf, uses, until }: typeof EMPTY) {
  const listed = tiers.split(',').flatMap((tier) => tier.trim() || [])
  return {
    code,
    ...(unit === 'percent'
      ? { percent_off: Number(value) }
      : { amount_off: inMinorUnits(Number(value), unit), currency: unit }),
    ...(listed.length > 0 && { tiers: listed }),
    ...(ownersOf.trim() !== '' && { owners_of: ownersOf.trim() }),
    ...(uses !== '' && { redemptions_max: Number(uses) }),
    ...(until !== '' && { until: new Date(until).toISOString() }),
  }
}
