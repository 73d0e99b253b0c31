import { Alert, Text, type TextProps } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { ApiProblem, fieldErrors, formatProblem } from '../api/problem.ts'
import { t } from '../language/text.ts'

type Form = { values: object; setErrors(errors: Record<string, string>): void }

/** Shows each issue at its field. `FormProblem` shows the issues of other fields. */
export function setFieldErrors(form: Form, problem: unknown) {
  const known = Object.entries(fieldErrors(problem)).filter(([field]) => field in form.values)
  form.setErrors(Object.fromEntries(known))
}

/** Error of a form or button, unless every issue is shown at its field. */
export function FormProblem({ problem, fields = [] }: { problem: unknown; fields?: string[] }) {
  if (!problem) return null
  const named = Object.keys(fieldErrors(problem))
  if (named.length > 0 && named.every((field) => fields.includes(field))) return null
  // The user closed the sign-in dialog.
  const stale = problem instanceof ApiProblem && problem.code === 'fresh_sign_in_required'
  return (
    <Alert
      color={stale ? 'brass' : 'red'}
      role="alert"
      icon={<IconAlertCircle size={20} aria-hidden />}
    >
      {stale
        ? t('Nothing was changed. Sign in again to make this change.')
        : formatProblem(problem)}
    </Alert>
  )
}

/** Error of one button, as a line of text. */
export function ProblemText({ problem, ...text }: TextProps & { problem: unknown }) {
  return problem ? (
    <Text c="var(--mantine-color-error)" size="sm" role="alert" {...text}>
      {formatProblem(problem)}
    </Text>
  ) : null
}
