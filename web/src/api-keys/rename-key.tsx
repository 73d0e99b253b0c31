import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { keysQuery, queries } from '../api/queries.ts'
import type { ApiKey } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'

export function RenameKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const form = useForm({
    initialValues: { name: apiKey.name },
    validate: { name: (name) => (name.trim() ? null : 'Give it a name') },
  })
  const rename = useMutation({
    mutationFn: (name: string) =>
      api.patch<ApiKey>(`/api/api-keys/${apiKey.id}`, undefined, { query: { name: name.trim() } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keysQuery.queryKey })
      onClose()
    },
    onError: (problem) => setFieldErrors(form, problem),
  })
  return (
    <Modal opened onClose={onClose} title="Rename key">
      <form onSubmit={form.onSubmit(({ name }) => rename.mutate(name))}>
        <Stack>
          <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
          <FormProblem problem={rename.error} fields={['name']} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rename.isPending}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
