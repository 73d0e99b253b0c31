import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Token } from '../api/types.ts'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'

type CodeFormProps = { path: string; proof: object; onToken: (pair: Token) => void; onBack: () => void }

/** The second factor: sends the first one's proof again, with the code beside it. */
export function CodeForm({ path, proof, onToken, onBack }: CodeFormProps) {
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (code.trim() ? null : 'Enter the code') },
  })
  const send = useMutation({
    mutationFn: (code: string) => api.post<Token>(path, { ...proof, code: code.trim() }, { anonymous: true }),
    onSuccess: onToken,
    onError: (problem) => setFieldErrors(form, problem),
  })

  return (
    <form onSubmit={form.onSubmit(({ code }) => send.mutate(code))} noValidate>
      <Stack>
        <FormProblem problem={send.error} fields={['code']} />
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          data-autofocus
          autoFocus
          inputMode="text"
          spellCheck={false}
          className="numbers"
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={send.isPending}>
          Continue
        </Button>
        <Button variant="subtle" color="gray" onClick={onBack}>
          Start over
        </Button>
      </Stack>
    </form>
  )
}
