import { Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKey } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { formatDay } from '../components/format.ts'
import { t } from '../language/text.ts'
import { KeyButtons, KeyFields } from './key-fields.tsx'
import { describeLimits, diffKeySettings, readKeyForm } from './key-settings.ts'

/** Edits a key. Only the name of an expired or revoked key can change. */
export function EditKey({
  apiKey,
  isLive,
  onClose,
}: {
  apiKey: ApiKey
  isLive: boolean
  onClose: () => void
}) {
  const form = useForm({
    initialValues: readKeyForm(apiKey),
    validate: { name: (name) => (name.trim() ? null : t('Enter a name')) },
  })
  const edit = useMutation({
    mutationFn: async (values: typeof form.values) => {
      const change = diffKeySettings(apiKey, values, Date.now())
      if (Object.keys(change).length > 0)
        await api.patch('/api/api-keys/{key_id}', change, { path: { key_id: apiKey.id } })
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
      onClose()
    },
    onError: (problem) => setFieldErrors(form, problem),
  })
  return (
    <Modal opened onClose={onClose} title={t('Edit key')}>
      <form onSubmit={form.onSubmit((values) => edit.mutate(values))}>
        <Stack>
          {isLive ? (
            <KeyFields
              form={form}
              end={apiKey.expires_at && t('expires {0}', formatDay(apiKey.expires_at))}
              isOpen={describeLimits(apiKey).length > 0}
            />
          ) : (
            <TextInput label={t('Name')} data-autofocus {...form.getInputProps('name')} />
          )}
          <FormProblem problem={edit.error} fields={Object.keys(form.values)} />
          <KeyButtons action={t('Save')} isPending={edit.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
