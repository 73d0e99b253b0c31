import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import type { Token } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { t } from '../language/text.ts'

type CodeFormProps = {
  /** Repeats the first factor with the code. */
  prove: (code: string) => Promise<Token>
  onToken: (pair: Token) => void
  onBack: () => void
}

/** Form for the second factor. */
export function CodeForm({ prove, onToken, onBack }: CodeFormProps) {
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (code.trim() ? null : t('Enter the code')) },
  })
  const send = useMutation({
    mutationFn: (code: string) => prove(code.trim()),
    onSuccess: onToken,
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <form onSubmit={form.onSubmit(({ code }) => send.mutate(code))} noValidate>
      <Stack>
        <FormProblem problem={send.error} fields={['code']} />
        <TextInput
          label={t('Code')}
          autoComplete="one-time-code"
          data-autofocus
          autoFocus
          inputMode="text"
          spellCheck={false}
          className="numbers"
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={send.isPending}>
          {t('Continue')}
        </Button>
        <Button variant="subtle" color="gray" onClick={onBack}>
          {t('Start over')}
        </Button>
      </Stack>
    </form>
  )
}
