import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { queries } from '../api/queries.ts'
import { CopyText } from '../components/copy.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { setupQuery } from './setup-query.ts'

type Saved = { lines: { name: string; value: string }[] }
type StepFormProps = {
  name: string
  action: string
  /** Tests and saves the values. */
  save: () => Promise<Saved>
  done: string
  /** Beside the button. */
  aside?: ReactNode
  children: ReactNode
}

/** A form that tests and saves settings, or shows the lines of a service that stores none. */
export function StepForm({ name, action, save, done, aside, children }: StepFormProps) {
  const run = useMutation({
    mutationFn: save,
    onSuccess: async ({ lines }) => {
      await queries.invalidateQueries({ queryKey: setupQuery.queryKey })
      showToast(lines.length === 0 ? done : t('Tested. Copy the lines into your environment'))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run.mutate()
  }
  const lines = run.data?.lines.map((line) => `${line.name}=${line.value}`).join('\n') ?? ''
  return (
    <form aria-label={name} onSubmit={submit}>
      <Stack gap="sm" align="flex-start">
        {children}
        <FormProblem problem={run.error} />
        <Group gap="sm">
          <Button type="submit" loading={run.isPending}>
            {action}
          </Button>
          {aside}
        </Group>
        {lines !== '' && (
          <>
            <Text size="sm">
              {t(
                'This service stores no settings. Add these lines to its environment, and restart it:',
              )}
            </Text>
            <Code block w="100%">
              {lines}
            </Code>
            <CopyText value={lines}>{t('Copy lines')}</CopyText>
          </>
        )}
      </Stack>
    </form>
  )
}
