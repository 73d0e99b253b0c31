import { Modal, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKeyCreated } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { KeyButtons, KeyFields } from './key-fields.tsx'
import { bodyOf, NEW_KEY } from './key-settings.ts'
import { ShownKey } from './shown-key.tsx'

/**
 * Makes a key and shows it, once. While it is shown the dialog closes by its own button alone: the service keeps only a
 * hash, so a slip of the mouse would lose the key for good.
 */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [made, setMade] = useState<ApiKeyCreated | null>(null)
  const form = useForm({
    initialValues: NEW_KEY,
    validate: { name: (name) => (name.trim() ? null : 'Give it a name') },
  })
  const make = useMutation({
    mutationFn: (values: typeof form.values) =>
      api.post('/api/api-keys', bodyOf(values, Date.now())),
    onSuccess: (key) => {
      setMade(key)
      form.reset()
      void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    },
    onError: (problem) => setFieldErrors(form, problem),
  })

  if (made) {
    return (
      <Modal
        opened={opened}
        onClose={() => undefined}
        title={`Your new key “${made.name}”`}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
        size="lg"
      >
        <ShownKey
          made={made}
          onDone={() => {
            setMade(null)
            onClose()
          }}
        />
      </Modal>
    )
  }
  return (
    <Modal opened={opened} onClose={onClose} title="New API key">
      <form onSubmit={form.onSubmit((values) => make.mutate(values))}>
        <Stack>
          <KeyFields form={form} end={null} isOpen={false} />
          <FormProblem problem={make.error} fields={Object.keys(form.values)} />
          <KeyButtons action="Make key" isPending={make.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
