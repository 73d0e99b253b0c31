// Guards the one place where errors become replies, in the three shapes that clients expect.
// One thing to know: a Problem speaks to the caller; anything else is a bug, logged whole and shown as an id alone.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Issue, Problem } from '../problem.ts'
import { ValidationFailure } from './validation.ts'

/** `detail`: the API. `error`: the storefront. `openai`: everything under /v1. */
export type ErrorShape = 'detail' | 'error' | 'openai'

export function replyWithError(
  shape: ErrorShape,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = problemOf(error, shape)
  if (problem.status >= 500) {
    request.log.error({ err: error, code: problem.code, reqId: request.id }, 'a request failed')
  }
  return reply
    .status(problem.status)
    .headers(problem.headers)
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(bodyOf(shape, problem, request.id))
}

export function bodyOf(shape: ErrorShape, problem: Problem, requestId: string): object {
  const { detail } = problem
  if (shape === 'detail')
    return {
      detail: problem.code === 'internal' ? `Internal error, request id ${requestId}` : detail,
      ...problem.extra,
    }

  const message =
    problem.code === 'internal'
      ? `Internal error, request id ${requestId}`
      : typeof detail === 'string'
        ? detail
        : sentence(detail)
  if (shape === 'error') return { error: message, ...problem.extra }
  return {
    error: {
      message,
      type: openaiType(problem.status),
      code: problem.code,
      param: typeof detail === 'string' ? (problem.extra.param ?? null) : paramOf(detail),
    },
  }
}

function problemOf(error: unknown, shape: ErrorShape): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ValidationFailure) return ofIssues(error.issues, shape)
  return ofFramework(error as FastifyError) ?? new Problem('internal', 500, 'Internal error', { cause: error })
}

/** The storefront answers a missing or empty field with 400, as its specification says. */
function ofIssues(issues: Issue[], shape: ErrorShape): Problem {
  const missing = issues.some((issue) => issue.type === 'missing' || issue.type === 'string_too_short')
  return new Problem('validation_failed', shape === 'error' && missing ? 400 : 422, issues)
}

function ofFramework(error: FastifyError): Problem | null {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new Problem('malformed_json', 422, [
        { loc: ['body'], msg: 'The body is not valid JSON', type: 'json_invalid' },
      ])
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new Problem('validation_failed', 422, [{ loc: ['body'], msg: 'Field required', type: 'missing' }])
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('media_type_unsupported', 415, 'Unsupported content type: send application/json')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('body_too_large', 413, 'Request body too large')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('bad_request', 400, 'The request body does not have the announced length')
    case 'FST_ERR_BAD_URL':
      return new Problem('bad_url', 400, 'The address is malformed')
  }
  const status = error.statusCode
  if (status === 413) return new Problem('body_too_large', 413, 'Request body too large')
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new Problem('bad_request', status, error.message)
  return null
}

function sentence(issues: Issue[]): string {
  return issues.map((issue) => `${issue.loc.slice(1).join('.') || issue.loc[0]}: ${issue.msg}`).join('; ')
}

function paramOf(issues: Issue[]): string | null {
  return issues[0]?.loc.slice(1).join('.') || null
}

function openaiType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404) return 'not_found_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
