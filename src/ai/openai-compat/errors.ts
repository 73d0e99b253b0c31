import type { ErrorDialect } from '#platform/http/openapi.ts'
import { apiErrors, type ErrorShape, formatDetail } from '#platform/http/replies.ts'
import type { Problem } from '#platform/problem.ts'

/** OpenAI's error shape. Its clients fail to handle a 422, so it becomes a 400. */
export const openAiErrors: ErrorShape = {
  ...apiErrors,
  status: ({ status }) => (status === 422 ? 400 : status),
  body(problem) {
    const { status, alias, detail, extra } = problem
    const param =
      typeof detail === 'string' ? (extra.param ?? null) : detail[0]?.loc.slice(1).join('.') || null
    return {
      error: { message: formatDetail(problem), type: findErrorType(status), code: alias, param },
    }
  },
}

function findErrorType(status: Problem['status']): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404) return 'not_found_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

export const openAiErrorDialect: ErrorDialect = {
  name: 'OpenAi',
  invalidStatuses: [400],
  // Only codes that OpenAI's clients know; a vendor's code may also pass through.
  tellsCodes: false,
  schema: {
    type: 'object',
    properties: {
      error: {
        title: 'OpenAiErrorObject',
        type: 'object',
        properties: {
          message: { type: 'string' },
          type: { type: 'string' },
          code: { type: ['string', 'null'] },
          param: { type: ['string', 'null'] },
        },
        required: ['message', 'type', 'code', 'param'],
      },
    },
    required: ['error'],
  },
}
