import { NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { decimalsMax, inMinorUnits, inUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import { formatAmount } from './amount.ts'
import { FormDialog } from './form-dialog.tsx'
import { type OrderDialogProps, ReasonField } from './order-dialogs.tsx'
import { storeOrder } from './orders-query.ts'

/** Refunds all that is left, or a part. The amount stands on the button. */
export function RefundDialog({ order, onClose }: OrderDialogProps) {
  const { id, currency, amount_cents, refunded_cents } = order
  const leftCents = amount_cents - refunded_cents
  const [amount, setAmount] = useState<string | number>(inUnits(leftCents, currency))
  const [reason, setReason] = useState('')
  const cents = inMinorUnits(Number(amount), currency)
  const isWhole = cents >= leftCents
  const run = async () =>
    storeOrder(
      await api.post(
        '/api/admin/purchases/{id}/refund',
        { reason, ...(isWhole ? {} : { amount: cents }) },
        { path: { id } },
      ),
    )
  return (
    <FormDialog
      title="Refund"
      action={`Refund ${formatAmount(cents, currency)}`}
      done={`${formatAmount(cents, currency)} refunded`}
      isDangerous
      onClose={onClose}
      onSubmit={run}
    >
      <Stack gap="sm">
        <NumberInput
          label={`Amount in ${currency.toUpperCase()}`}
          description={`Up to ${formatAmount(leftCents, currency)}`}
          min={inUnits(1, currency)}
          max={inUnits(leftCents, currency)}
          decimalScale={decimalsMax(currency)}
          fixedDecimalScale
          clampBehavior="strict"
          hideControls
          required
          withAsterisk={false}
          value={amount}
          onChange={setAmount}
        />
        <ReasonField value={reason} onChange={setReason} />
        <Text size="sm" c="dimmed" role="status">
          {isWhole
            ? 'The license key and the downloads stop working, and the buyer gets an email.'
            : 'The license stays valid, and the buyer gets an email.'}
        </Text>
      </Stack>
    </FormDialog>
  )
}
