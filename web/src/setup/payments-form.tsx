import { PasswordInput, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { SetupState } from '../api/types.ts'
import { t } from '../language/text.ts'
import { RemoveSaved } from './remove-saved.tsx'
import { StepForm } from './step-form.tsx'

export function PaymentsForm({ state }: { state: SetupState }) {
  const [key, setKey] = useState('')
  const [webhook, setWebhook] = useState('')
  const save = async () => {
    const saved = await api.post('/api/admin/setup/payments', {
      secret_key: key.trim(),
      ...(webhook.trim() !== '' && { webhook_secret: webhook.trim() }),
    })
    setKey('')
    setWebhook('')
    return saved
  }
  return (
    <StepForm
      name={t('Payments')}
      action={t('Test and save key')}
      done={t('Stripe key saved')}
      save={save}
      aside={
        state.payments.is_saved && (
          <RemoveSaved
            what={t('Stripe key')}
            remove={() => api.delete('/api/admin/setup/payments')}
          >
            {t(
              'Its webhook secret and the prices of plans are removed with it. Nothing changes at Stripe.',
            )}
          </RemoveSaved>
        )
      }
    >
      <Text size="sm">
        {state.is_public
          ? t('The service reads your Stripe account and creates its webhook endpoints.')
          : t('Stripe cannot reach this machine. Payments are read at the start and every hour.')}
      </Text>
      <PasswordInput
        w="100%"
        label={t('Stripe secret key')}
        description={t('sk_test_… plays payments, sk_live_… charges cards.')}
        autoComplete="off"
        required
        withAsterisk={false}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <PasswordInput
        w="100%"
        label={t('Webhook signing secret (optional)')}
        autoComplete="off"
        value={webhook}
        onChange={(event) => setWebhook(event.currentTarget.value)}
      />
    </StepForm>
  )
}
