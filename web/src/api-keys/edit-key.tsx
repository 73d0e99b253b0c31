import { Modal, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKey } from '../api/types.ts'
import { ApiForm } from '../components/api-form.tsx'
import { formatDay } from '../components/format.ts'
import { t } from '../language/text.ts'
import { KeyFields } from './key-fields.tsx'
import { describeLimits, diffKeySettings, readKeyForm } from './key-settings.ts'

type EditKeyProps = { apiKey: ApiKey; isLive: boolean; onClose: () => void }

/** Edits a key. Only the name of an expired or revoked key can change. */
export function EditKey({ apiKey, isLive, onClose }: EditKeyProps) {
  const form = useForm({
    initialValues: readKeyForm(apiKey),
    validate: { name: (name) => (name.trim() ? null : t('Enter a name')) },
  })
  const edit = async (values: typeof form.values) => {
    const change = diffKeySettings(apiKey, values, Date.now())
    if (Object.keys(change).length > 0)
      await api.patch('/api/api-keys/{key_id}', change, { path: { key_id: apiKey.id } })
    void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('Edit key')}>
      <ApiForm form={form} action={t('Save')} onSend={edit} onCancel={onClose}>
        {isLive ? (
          <KeyFields
            form={form}
            end={apiKey.expires_at && t('expires {0}', formatDay(apiKey.expires_at))}
            isOpen={describeLimits(apiKey).length > 0}
          />
        ) : (
          <TextInput label={t('Name')} data-autofocus {...form.getInputProps('name')} />
        )}
      </ApiForm>
    </Modal>
  )
}
