import { NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { OrderDetail } from '../api/types.ts'
import { formatDay } from '../components/format.ts'
import { t } from '../language/text.ts'
import { FormDialog } from './form-dialog.tsx'
import { storeOrder } from './orders-query.ts'

export type OrderDialogProps = { order: OrderDetail; onClose: () => void }

const YEAR_MS = 365 * 86_400_000

export function ExtendDialog({ order, onClose }: OrderDialogProps) {
  const { id, entitled_until } = order
  const end = Date.parse(entitled_until ?? '')
  const [day, setDay] = useState(formatDateField(Math.max(end, Date.now()) + YEAR_MS))
  const run = async () =>
    storeOrder(
      await api.post(
        '/api/admin/purchases/{id}/extend',
        { until: `${day}T23:59:59Z` },
        { path: { id } },
      ),
    )
  return (
    <FormDialog
      title={t('Extend updates')}
      action={t('Extend')}
      done={t('Updates extended')}
      onClose={onClose}
      onSubmit={run}
    >
      <TextInput
        type="date"
        label={t('Updates until')}
        description={t('Now until {0}. Days end at midnight UTC.', formatDay(entitled_until ?? ''))}
        min={formatDateField(end)}
        value={day}
        onChange={(event) => setDay(event.currentTarget.value)}
        required
      />
    </FormDialog>
  )
}

export function MachinesDialog({ order, onClose }: OrderDialogProps) {
  const [limit, setLimit] = useState<string | number>(order.activations_limit ?? '')
  const run = async () =>
    storeOrder(
      await api.post(
        '/api/admin/purchases/{id}/activations',
        { limit: limit === '' ? null : Number(limit) },
        { path: { id: order.id } },
      ),
    )
  return (
    <FormDialog
      title={t('Change machine limit')}
      action={t('Save')}
      done={t('Machine limit changed')}
      onClose={onClose}
      onSubmit={run}
    >
      <NumberInput
        label={t('Machines')}
        description={t('Empty: the limit of the product. Active machines stay active.')}
        min={0}
        max={100_000}
        allowDecimal={false}
        value={limit}
        onChange={setLimit}
      />
    </FormDialog>
  )
}

export function RevokeDialog({ order, onClose }: OrderDialogProps) {
  const [reason, setReason] = useState('')
  const run = async () =>
    storeOrder(
      await api.post('/api/admin/purchases/{id}/revoke', { reason }, { path: { id: order.id } }),
    )
  return (
    <FormDialog
      title={t('Revoke this order?')}
      action={t('Revoke')}
      done={t('Order revoked')}
      isDangerous
      onClose={onClose}
      onSubmit={run}
    >
      <Stack gap="sm">
        <Text>
          {t(
            'The license key and the downloads stop working, and the buyer gets an email. The payment is not refunded. You can restore the order.',
          )}
        </Text>
        <ReasonField value={reason} onChange={setReason} />
      </Stack>
    </FormDialog>
  )
}

export function ReasonField({
  value,
  onChange,
}: {
  value: string
  onChange: (value: string) => void
}) {
  return (
    <TextInput
      label={t('Reason')}
      description={t('For the audit log; the buyer doesn’t see it')}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={500}
      required
      withAsterisk={false}
    />
  )
}

function formatDateField(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
