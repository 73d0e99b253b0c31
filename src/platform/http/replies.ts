// Guards the one place where errors become replies, in the three shapes that clients expect.
// One thing to know: a Problem speaks to the caller; anything else is a bug, logged whole and shown as an id alone.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type DatabaseFailure, databaseFailure } from '../db/failures.ts'
import { type Issue, Problem } from '../problem.ts'
import { invalid, malformedJson, platformProblem } from '../problems.ts'
import { seldom } from '../telemetry/log.ts'
import { ValidationFailure } from './validation.ts'

/** `detail`: the API. `error`: the storefront. `openai`: everything under /v1. */
export type ErrorShape = 'detail' | 'error' | 'openai'

export function replyWithError(
  shape: ErrorShape,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = problemOf(error, shape, request.id)
  if (problem.cause !== undefined && databaseFailure(problem.cause) !== null) {
    saySeldom(request.log)(
      { err: problem.cause, code: problem.code, reqId: request.id },
      'requests fail by the database',
    )
  } else if (problem.status >= 500) {
    request.log.error({ err: error, code: problem.code, reqId: request.id }, 'a request failed')
  }
  return reply
    .status(statusOf(shape, problem))
    .headers(problem.headers)
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(bodyOf(shape, problem))
}

/** OpenAI's clients know what is wrong with a request as 400; on 422 they give up with an error that nobody catches. */
function statusOf(shape: ErrorShape, { status }: Problem): number {
  return shape === 'openai' && status === 422 ? 400 : status
}

export function bodyOf(shape: ErrorShape, { code, openaiCode, status, detail, extra }: Problem): object {
  if (shape === 'detail') return { detail, code, ...extra }

  const message = typeof detail === 'string' ? detail : sentence(detail)
  if (shape === 'error') return { error: message, code, ...extra }
  const param = typeof detail === 'string' ? (extra.param ?? null) : paramOf(detail)
  return { error: { message, type: openaiType(status), code: openaiCode, param } }
}

function problemOf(error: unknown, shape: ErrorShape, requestId: string): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ValidationFailure) return ofIssues(error.issues, shape)
  const failure = databaseFailure(error)
  if (failure !== null) return ofDatabase(failure, error)
  return ofFramework(error as FastifyError) ?? platformProblem('internal_error', { requestId }, { cause: error })
}

/** The storefront answers a missing or empty field with 400, as its specification says. */
function ofIssues(issues: Issue[], shape: ErrorShape): Problem {
  const missing = issues.find((issue) => issue.type === 'missing' || issue.type === 'string_too_short')
  return shape === 'error' && missing
    ? platformProblem('field_missing', { field: placeOf(missing) }, { issues })
    : platformProblem('validation_failed', { issues })
}

function ofDatabase(failure: DatabaseFailure, cause: unknown): Problem {
  const seconds = failure === 'unreachable' || failure === 'busy' ? 2 : 30
  return platformProblem(`database_${failure}`, { headers: { 'Retry-After': String(seconds) }, cause })
}

/** While the database is away every request says the same. */
const seldomByLog = new WeakMap<object, ReturnType<typeof seldom>>()

function saySeldom(log: FastifyRequest['log']): ReturnType<typeof seldom> {
  const known = seldomByLog.get(log) ?? seldom((details, message) => log.error(details, message))
  seldomByLog.set(log, known)
  return known
}

function ofFramework(error: FastifyError): Problem | null {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return malformedJson()
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return invalid(['body'], 'Field required', 'missing')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return platformProblem('media_type_unsupported', { wanted: 'application/json' })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return platformProblem('body_too_large')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return platformProblem('bad_request', { reason: 'The request body does not have the announced length' })
    case 'FST_ERR_BAD_URL':
      return platformProblem('bad_url')
  }
  const status = error.statusCode
  if (status === 413) return platformProblem('body_too_large')
  if (status === undefined || status < 400 || status >= 500) return null
  // As Fastify's plugins have it: of a file's conditions and ranges.
  return platformProblem('bad_request', { reason: error.message }, { status: status as 400 })
}

function sentence(issues: Issue[]): string {
  return issues.map((issue) => `${placeOf(issue)}: ${issue.msg}`).join('; ')
}

function placeOf({ loc }: Issue): string {
  return loc.slice(1).join('.') || String(loc[0])
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
