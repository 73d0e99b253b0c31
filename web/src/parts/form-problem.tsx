import { Alert } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { fieldErrors, sentence } from '../api/problem.ts'

type Form = { values: object; setErrors(errors: Record<string, string>): void }

/** Puts each issue on the field it names. What names no field of this form is left for `FormProblem` to say. */
export function spread(form: Form, problem: unknown) {
  const known = Object.entries(fieldErrors(problem)).filter(([field]) => field in form.values)
  form.setErrors(Object.fromEntries(known))
}

/** What went wrong with a form, unless every issue already stands beside its field. */
export function FormProblem({ problem, fields = [] }: { problem: unknown; fields?: string[] }) {
  if (!problem) return null
  const named = Object.keys(fieldErrors(problem))
  if (named.length > 0 && named.every((field) => fields.includes(field))) return null
  return (
    <Alert color="red" role="alert" icon={<IconAlertCircle size={20} aria-hidden />}>
      {sentence(problem)}
    </Alert>
  )
}
