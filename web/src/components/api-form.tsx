import { Button, type ButtonProps, Group, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../language/text.ts'
import { FormProblem, setFieldErrors } from './form-problem.tsx'

type ApiFormProps<Values extends object> = Pick<ButtonProps, 'color' | 'disabled'> & {
  form: UseFormReturnType<Values>
  /** Label of the button that sends the form. */
  action: string
  onSend: (values: Values) => Promise<unknown>
  onCancel?: () => void
  children: ReactNode
}

/** A form of one request. Each issue shows at its field, other errors above the button. */
export function ApiForm<Values extends object>(props: ApiFormProps<Values>) {
  const { form, action, onSend, onCancel, children, ...button } = props
  const send = useMutation({
    mutationFn: onSend,
    onError: (problem) => setFieldErrors(form, problem),
  })
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))}>
      <Stack>
        {children}
        <FormProblem problem={send.error} fields={Object.keys(form.values)} />
        <Group justify="flex-end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {t('Cancel')}
            </Button>
          )}
          <Button type="submit" loading={send.isPending} {...button}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
