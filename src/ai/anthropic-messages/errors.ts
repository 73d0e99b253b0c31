import type { ErrorDialect } from '#platform/http/openapi.ts'
import { apiErrors, type ErrorShape, formatDetail } from '#platform/http/replies.ts'
import type { Problem } from '#platform/problem.ts'
import { CONTEXT_EXCEEDED } from '../vendors/vendor-error.ts'

/** Errors in the shape that Anthropic's clients parse. */
export const anthropicErrors: ErrorShape = {
  ...apiErrors,
  status: findStatus,
  // Anthropic's SDKs read the request id from this header.
  headers: (requestId) => ({ 'request-id': requestId }),
  body: anthropicError,
}

export function anthropicError(problem: Problem) {
  const message = formatDetail(problem)
  return {
    type: 'error',
    error: {
      type: findErrorType(findStatus(problem)),
      // Claude Code shortens its conversation when it finds these words.
      message: problem.code === CONTEXT_EXCEEDED ? `prompt is too long: ${message}` : message,
      code: problem.code,
      // On this error Anthropic's SDKs resend the whole conversation.
      ...(problem.extra.param === 'thread'
        ? { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } }
        : {}),
    },
  }
}

function findStatus({ status }: Problem): number {
  return status === 422 ? 400 : status
}

function findErrorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 413:
      return 'request_too_large'
    case 429:
      return 'rate_limit_error'
    case 503:
      return 'overloaded_error'
    case 504:
      return 'timeout_error'
  }
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

export const anthropicErrorDialect: ErrorDialect = {
  name: 'Anthropic',
  invalidStatuses: [400],
  tellsCodes: false,
  schema: {
    type: 'object',
    properties: {
      type: { const: 'error' },
      error: {
        title: 'AnthropicErrorObject',
        type: 'object',
        properties: {
          type: { type: 'string' },
          message: { type: 'string' },
          code: { type: 'string' },
        },
        required: ['type', 'message', 'code'],
      },
    },
    required: ['type', 'error'],
  },
}
