import { Modal, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKeyCreated } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { t } from '../language/text.ts'
import { KeyButtons, KeyFields } from './key-fields.tsx'
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
  const createKey = useMutation({
    mutationFn: (values: typeof form.values) =>
      api.post('/api/api-keys', buildKeySettings(values, Date.now())),
    onSuccess: (key) => {
      setCreatedKey(key)
      onCreated?.(key.key)
      form.reset()
      void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    },
    onError: (problem) => setFieldErrors(form, problem),
  })

  if (createdKey) {
    return (
      <Modal
        opened={opened}
        onClose={() => undefined}
        title={t('New API key “{0}”', createdKey.name)}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
        size="lg"
      >
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
      <form onSubmit={form.onSubmit((values) => createKey.mutate(values))}>
        <Stack>
          <KeyFields form={form} end={null} isOpen={false} />
          <FormProblem problem={createKey.error} fields={Object.keys(form.values)} />
          <KeyButtons action={t('Create key')} isPending={createKey.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
