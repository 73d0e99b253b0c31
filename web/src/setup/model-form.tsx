import { PasswordInput, Select } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { SetupState } from '../api/types.ts'
import { t } from '../language/text.ts'
import { RemoveSaved } from './remove-saved.tsx'
import { StepForm } from './step-form.tsx'

export function ModelForm({ state }: { state: SetupState }) {
  const open = state.models.filter(({ fixed_by }) => fixed_by === null)
  const [vendor, setVendor] = useState(open[0]?.vendor ?? '')
  const [key, setKey] = useState('')
  const save = async () => {
    const saved = await api.post('/api/admin/setup/models', { vendor, api_key: key.trim() })
    setKey('')
    return saved
  }
  return (
    <StepForm
      name={t('Models')}
      action={t('Test and save key')}
      done={t('Model key saved')}
      save={save}
      aside={
        open.some((one) => one.vendor === vendor && one.is_saved) && (
          <RemoveSaved
            what={t('{0} key', vendor)}
            remove={() => api.delete('/api/admin/setup/models', undefined, { query: { vendor } })}
          >
            {t('Calls no longer use this vendor.')}
          </RemoveSaved>
        )
      }
    >
      <Select
        w="100%"
        label={t('Vendor')}
        data={open.map((one) => ({
          value: one.vendor,
          label: one.state === 'on' ? `${one.vendor} (connected)` : one.vendor,
        }))}
        allowDeselect={false}
        value={vendor}
        onChange={(value) => setVendor(value ?? '')}
      />
      <PasswordInput
        w="100%"
        label={t('API key')}
        description={t('The test asks the vendor’s default model for one short answer.')}
        autoComplete="off"
        required
        withAsterisk={false}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
    </StepForm>
  )
}
