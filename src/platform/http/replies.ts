// Guards the one place where errors become replies, in the three shapes that clients expect.
// One thing to know: a Problem speaks to the caller; anything else is a bug, logged whole and shown as an id alone.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type DatabaseFailure, databaseFailure } from '../db/failures.ts'
import { type Issue, Problem } from '../problem.ts'
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
  const problem = problemOf(error, shape)
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
    .send(bodyOf(shape, problem, request.id))
}

/** OpenAI's clients know what is wrong with a request as 400; on 422 they give up with an error that nobody catches. */
function statusOf(shape: ErrorShape, { status }: Problem): number {
  return shape === 'openai' && status === 422 ? 400 : status
}

export function bodyOf(shape: ErrorShape, problem: Problem, requestId: string): object {
  const { detail } = problem
  const code = problem.tellsCode ? { code: problem.code } : {}
  if (shape === 'detail')
    return {
      detail: problem.code === 'internal' ? `Internal error, request id ${requestId}` : detail,
      ...code,
      ...problem.extra,
    }

  const message =
    problem.code === 'internal'
      ? `Internal error, request id ${requestId}`
      : typeof detail === 'string'
        ? detail
        : sentence(detail)
  if (shape === 'error') return { error: message, ...code, ...problem.extra }
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
  const failure = databaseFailure(error)
  if (failure !== null) return ofDatabase(failure, error)
  return ofFramework(error as FastifyError) ?? new Problem('internal', 500, 'Internal error', { cause: error })
}

/** The storefront answers a missing or empty field with 400, as its specification says. */
function ofIssues(issues: Issue[], shape: ErrorShape): Problem {
  const missing = issues.some((issue) => issue.type === 'missing' || issue.type === 'string_too_short')
  return new Problem('validation_failed', shape === 'error' && missing ? 400 : 422, issues)
}

const DATABASE_SENTENCES: Record<DatabaseFailure, string> = {
  unreachable: 'The database cannot be reached at the moment: try again shortly',
  busy: 'The database is too busy at the moment: try again shortly',
  full: 'Nothing can be stored at the moment, because the disk is full: try again later',
  read_only: 'Nothing can be stored at the moment: try again later',
}

function ofDatabase(failure: DatabaseFailure, cause: unknown): Problem {
  const seconds = failure === 'unreachable' || failure === 'busy' ? 2 : 30
  return new Problem(`database_${failure}`, 503, DATABASE_SENTENCES[failure], {
    headers: { 'Retry-After': String(seconds) },
    cause,
  })
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
