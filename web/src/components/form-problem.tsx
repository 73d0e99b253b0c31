import { Alert } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { ApiProblem, fieldErrors, formatProblem } from '../api/problem.ts'

type Form = { values: object; setErrors(errors: Record<string, string>): void }

/** Puts each issue on the field it names. What names no field of this form is left for `FormProblem` to say. */
export function setFieldErrors(form: Form, problem: unknown) {
  const known = Object.entries(fieldErrors(problem)).filter(([field]) => field in form.values)
  form.setErrors(Object.fromEntries(known))
}

/** What went wrong with a form or a button, unless every issue already stands beside its field. */
export function FormProblem({ problem, fields = [] }: { problem: unknown; fields?: string[] }) {
  if (!problem) return null
  const named = Object.keys(fieldErrors(problem))
  if (named.length > 0 && named.every((field) => fields.includes(field))) return null
  // Asked to sign in again, the person would rather not.
  const stale = problem instanceof ApiProblem && problem.code === 'fresh_sign_in_required'
  return (
    <Alert
      color={stale ? 'brass' : 'red'}
      role="alert"
      icon={<IconAlertCircle size={20} aria-hidden />}
    >
      {stale
        ? 'Nothing was changed: this asks you to sign in again first.'
        : formatProblem(problem)}
    </Alert>
  )
}
