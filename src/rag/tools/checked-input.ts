/** Checks the input of a tool. Models get the fault as text, because they can correct their call. */
import type { TSchema } from 'typebox'
import { ValidationFailure, validatorCompiler } from '#platform/http/validation.ts'

/** Returns the input with its defaults, or what is wrong with it. */
export function checkInput(
  schema: TSchema,
  input: unknown,
): { value: unknown } | { fault: string } {
  const check = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
  const checked = check(input) as { value: unknown } | { error: unknown }
  return 'error' in checked ? { fault: describeIssues(checked.error) } : checked
}

function describeIssues(error: unknown): string {
  const issues = error instanceof ValidationFailure ? error.issues : []
  return issues.map(({ loc, msg }) => `${loc.slice(1).join('.') || 'arguments'}: ${msg}`).join('; ')
}
