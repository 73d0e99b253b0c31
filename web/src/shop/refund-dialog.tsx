import { NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { decimalsMax, inMinorUnits, inUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import { FormDialog } from './form-dialog.tsx'
import { type OrderDialogProps, ReasonField } from './order-dialogs.tsx'
import { storeOrder } from './orders-query.ts'

/** Refunds the payment of an order. */
export function RefundDialog({ order, onClose }: OrderDialogProps) {
  const { id, currency, amount_cents, refunded_cents } = order
  return (
    <RefundForm
      currency={currency}
      leftCents={amount_cents - refunded_cents}
      effects={{
        whole: t('The license key and the downloads stop working, and the buyer gets an email.'),
        part: t('The license stays valid, and the buyer gets an email.'),
      }}
      onClose={onClose}
      onRefund={async (body) =>
        storeOrder(await api.post('/api/admin/purchases/{id}/refund', body, { path: { id } }))
      }
    />
  )
}

type RefundFormProps = {
  currency: string
  leftCents: number
  /** The consequences of a refund of the whole rest, and of a part. */
  effects: { whole: string; part: string }
  onClose: () => void
  onRefund: (body: { reason: string; amount?: number }) => Promise<unknown>
}

/** Refunds all that is left, or a part. The amount stands on the button. */
export function RefundForm({ currency, leftCents, effects, onClose, onRefund }: RefundFormProps) {
  const [amount, setAmount] = useState<string | number>(inUnits(leftCents, currency))
  const [reason, setReason] = useState('')
  const cents = inMinorUnits(Number(amount), currency)
  const isWhole = cents >= leftCents
  return (
    <FormDialog
      title={t('Refund')}
      action={t('Refund {0}', formatAmount(cents, currency))}
      done={t('{0} refunded', formatAmount(cents, currency))}
      isDangerous
      onClose={onClose}
      onSubmit={() => onRefund({ reason, ...(isWhole ? {} : { amount: cents }) })}
    >
      <Stack gap="sm">
        <NumberInput
          label={t('Amount in {0}', currency.toUpperCase())}
          description={t('Up to {0}', formatAmount(leftCents, currency))}
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
          {isWhole ? effects.whole : effects.part}
        </Text>
      </Stack>
    </FormDialog>
  )
}
