import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Message } from '../api/types.ts'
import { FormProblem, spread } from '../parts/form-problem.tsx'
import { ToText } from '../parts/to.tsx'
import { Panel } from './panel.tsx'

export function PasswordForm() {
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (password) => (password ? null : 'Enter your current password'),
      new_password: (password) => (password.length >= 8 ? null : 'At least 8 characters'),
    },
  })
  const change = useMutation({
    mutationFn: (values: typeof form.values) => api.post<Message>('/api/users/me/change-password', values),
    onSuccess: ({ message }) => {
      form.reset()
      notifications.show({ message })
    },
    onError: (problem) => spread(form, problem),
  })
  const none = change.error instanceof ApiProblem && change.error.message.startsWith('No password set')

  return (
    <Panel title="Password" lead="Changing it signs your other devices out.">
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            {...form.getInputProps('current_password')}
          />
          <PasswordInput
            label="New password"
            description="8 characters or more"
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          <FormProblem problem={change.error} fields={Object.keys(form.values)} />
          {none && (
            <Text>
              Set a first one by <ToText to="/forgot-password">the link for a lost password</ToText>.
            </Text>
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  )
}
