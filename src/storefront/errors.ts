import { type ErrorDialect, REFUSAL } from '#platform/http/openapi.ts'
import { apiErrors, type ErrorShape, formatDetail, formatLocation } from '#platform/http/replies.ts'
import { storefrontProblem } from './problems.ts'

/**
 * The error format of the storefront's specification: `error` in place of `detail`, and 400 for a
 * missing or empty field.
 */
export const storefrontErrors: ErrorShape = {
  body: (problem) => ({ error: formatDetail(problem), code: problem.code, ...problem.extra }),
  invalid(issues) {
    const missing = issues.find(
      (issue) => issue.type === 'missing' || issue.type === 'string_too_short',
    )
    return missing
      ? storefrontProblem('field_missing', { field: formatLocation(missing) }, { issues })
      : apiErrors.invalid(issues)
  },
}

export const storefrontErrorDialect: ErrorDialect = {
  name: 'Storefront',
  invalidStatuses: [400, 422],
  tellsCodes: true,
  schema: {
    type: 'object',
    description: REFUSAL,
    properties: {
      error: { type: 'string' },
      expired: { type: 'boolean', description: 'With `download_limit_reached`.' },
    },
    required: ['error'],
  },
}
