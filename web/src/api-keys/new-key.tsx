import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKeyCreated } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { ShownKey } from './shown-key.tsx'

const LIFETIMES = [
  { value: '0', label: 'No end' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
]
const DAY_MS = 86_400_000

/**
 * Makes a key and shows it, once. While it is shown the dialog closes by its own button alone: the service keeps only a
 * hash, so a slip of the mouse would lose the key for good.
 */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [made, setMade] = useState<ApiKeyCreated | null>(null)
  const form = useForm({
    initialValues: { name: '', days: '0' },
    validate: { name: (name) => (name.trim() ? null : 'Give it a name') },
  })
  const make = useMutation({
    mutationFn: ({ name, days }: typeof form.values) =>
      api.post<ApiKeyCreated>('/api/api-keys', {
        name: name.trim(),
        ...(days !== '0' && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      }),
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
          <TextInput
            label="Name"
            description="What or where it is for, such as “laptop” or “website”"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Select label="Ends after" data={LIFETIMES} {...form.getInputProps('days')} />
          <FormProblem problem={make.error} fields={['name']} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={make.isPending}>
              Make key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
