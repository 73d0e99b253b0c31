import { Alert, Button } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { ApiProblem, fieldErrors, sentence } from '../api/problem.ts'
import { session } from '../session/browser-session.ts'

type Form = { values: object; setErrors(errors: Record<string, string>): void }

/** Puts each issue on the field it names. What names no field of this form is left for `FormProblem` to say. */
export function spread(form: Form, problem: unknown) {
  const known = Object.entries(fieldErrors(problem)).filter(([field]) => field in form.values)
  form.setErrors(Object.fromEntries(known))
}

/** What went wrong with a form or a button, unless every issue already stands beside its field. */
export function FormProblem({ problem, fields = [] }: { problem: unknown; fields?: string[] }) {
  if (!problem) return null
  const named = Object.keys(fieldErrors(problem))
  if (named.length > 0 && named.every((field) => fields.includes(field))) return null
  const stale = problem instanceof ApiProblem && problem.message === 'Fresh sign-in required'
  return (
    <Alert color={stale ? 'brass' : 'red'} role="alert" icon={<IconAlertCircle size={20} aria-hidden />}>
      {stale ? <StaleSignIn /> : sentence(problem)}
    </Alert>
  )
}

/** Ending the session leads to the sign-in page, and from there back to where we are. */
function StaleSignIn() {
  return (
    <>
      To change how your account is opened, sign in again first: your last sign-in is more than 15 minutes ago.
      <br />
      <Button variant="default" mt="xs" onClick={() => session.end()}>
        Sign in again
      </Button>
    </>
  )
}
