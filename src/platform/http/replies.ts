/**
 * Turns errors into replies. A Problem is shown to the caller. Any other error is a bug: it is
 * logged completely, and the caller sees only an id.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type DatabaseFailure, databaseFailure } from '../db/failures.ts'
import { type Issue, Problem } from '../problem.ts'
import { invalid, malformedJson, platformProblem } from '../problems.ts'
import { seldom } from '../telemetry/log.ts'
import { hasBody, lingerAfterReply } from './bodies.ts'
import { logRefusal } from './refusals.ts'
import { ValidationFailure } from './validation.ts'

/** The format of error replies for a group of routes. */
export type ErrorShape = {
  body(problem: Problem): object
  /** Overrides the problem's status. */
  status?(problem: Problem): number
  /** Additional to the problem's headers. */
  headers?(requestId: string): Record<string, string>
  /** The problem for input of the wrong form. */
  invalid(issues: Issue[]): Problem
}

/** The error format of the API. */
export const apiErrors: ErrorShape = {
  body: ({ detail, code, extra }) => ({ detail, code, ...extra }),
  invalid: (issues) => platformProblem('validation_failed', { issues }),
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the problem in the reply. */
    refusedBy?: string
  }
}

export function replyWithError(
  shape: ErrorShape,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = asProblem(error, shape, request.id)
  request.refusedBy = problem.code
  logRefusal(request, problem)
  if (problem.status >= 500) logFailure(request, error, problem)
  if (hasBody(request.raw) && !request.raw.complete) lingerAfterReply(request.raw, reply.raw)
  return reply
    .status(shape.status?.(problem) ?? problem.status)
    .headers({ ...problem.headers, ...shape.headers?.(request.id) })
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(shape.body(problem))
}

function asProblem(error: unknown, shape: ErrorShape, requestId: string): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ValidationFailure) return shape.invalid(error.issues)
  const failure = databaseFailure(error)
  if (failure !== null) return ofDatabase(failure, error)
  return (
    ofFramework(error as FastifyError) ??
    platformProblem('internal_error', { requestId }, { cause: error })
  )
}

function ofDatabase(failure: DatabaseFailure, cause: unknown): Problem {
  const seconds = failure === 'unreachable' || failure === 'busy' ? 2 : 30
  return platformProblem(`database_${failure}`, {
    headers: { 'Retry-After': String(seconds) },
    cause,
  })
}

/**
 * An error that hits one request hits all: a flood is logged as a few lines, without stacks for
 * errors that are not bugs.
 */
function logFailure(
  { id, log }: FastifyRequest,
  error: unknown,
  { cause, code, message, status }: Problem,
): void {
  const logged = { code, reqId: id }
  if (cause !== undefined && databaseFailure(cause) !== null) {
    saySeldom(log, code)({ err: cause, ...logged }, 'requests fail by the database')
  } else if (status === 503 && cause === undefined) {
    saySeldom(log, code)(logged, message)
  } else {
    log.error({ err: error, ...logged }, 'a request failed')
  }
}

const seldomByLog = new WeakMap<object, Map<string, ReturnType<typeof seldom>>>()

function saySeldom(log: FastifyRequest['log'], code: string): ReturnType<typeof seldom> {
  const byCode = seldomByLog.get(log) ?? new Map<string, ReturnType<typeof seldom>>()
  seldomByLog.set(log, byCode)
  const known = byCode.get(code) ?? seldom((details, message) => log.error(details, message))
  byCode.set(code, known)
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
      return platformProblem('bad_request', {
        reason: 'The request body does not have the announced length',
      })
    case 'FST_ERR_BAD_URL':
      return platformProblem('bad_url')
  }
  const status = error.statusCode
  if (status === 413) return platformProblem('body_too_large')
  if (status === undefined || status < 400 || status >= 500) return null
  // Errors of Fastify's plugins, for example for conditional and range requests of files.
  return platformProblem('bad_request', { reason: error.message }, { status: status as 400 })
}

/** Returns one sentence, even when the errors are listed by field. */
export function formatDetail({ detail }: Problem): string {
  return typeof detail === 'string'
    ? detail
    : detail.map((issue) => `${formatLocation(issue)}: ${issue.msg}`).join('; ')
}

export function formatLocation({ loc }: Issue): string {
  return loc.slice(1).join('.') || String(loc[0])
}
