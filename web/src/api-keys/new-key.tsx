import { Modal } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKeyCreated } from '../api/types.ts'
import { ApiForm } from '../components/api-form.tsx'
import { LOCKED } from '../components/shown-once.tsx'
import { t } from '../language/text.ts'
import { KeyFields } from './key-fields.tsx'
import { buildKeySettings, NEW_KEY } from './key-settings.ts'
import { ShownKey } from './shown-key.tsx'

type NewKeyProps = {
  opened: boolean
  onClose: () => void
  /** Gets the key itself. */
  onCreated?: (key: string) => void
}

/**
 * Creates a key and shows it once. The dialog then closes only by its button: the service stores
 * only a hash, so an accidental click would lose the key.
 */
export function NewKey({ opened, onClose, onCreated }: NewKeyProps) {
  const [createdKey, setCreatedKey] = useState<ApiKeyCreated | null>(null)
  const form = useForm({
    initialValues: NEW_KEY,
    validate: { name: (name) => (name.trim() ? null : t('Enter a name')) },
  })
  const create = async (values: typeof form.values) => {
    const key = await api.post('/api/api-keys', buildKeySettings(values, Date.now()))
    setCreatedKey(key)
    onCreated?.(key.key)
    form.reset()
    void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
  }

  if (createdKey) {
    return (
      <Modal {...LOCKED} opened={opened} title={t('New API key “{0}”', createdKey.name)} size="lg">
        <ShownKey
          made={createdKey}
          onDone={() => {
            setCreatedKey(null)
            onClose()
          }}
        />
      </Modal>
    )
  }
  return (
    <Modal opened={opened} onClose={onClose} title={t('Create API key')}>
      <ApiForm form={form} action={t('Create key')} onSend={create} onCancel={onClose}>
        <KeyFields form={form} end={null} isOpen={false} />
      </ApiForm>
    </Modal>
  )
}
