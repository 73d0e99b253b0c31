/**
 * The API client: adds the access token, renews it once after a 401, and throws an ApiProblem for
 * every failure. A session that cannot be renewed ends, and the router opens the sign-in page.
 * When the service requires a fresh sign-in, a dialog asks for it and the request is repeated.
 */
import { t } from '../language/text.ts'
import { session } from '../session/browser-session.ts'
import { freshSignIn } from '../session/fresh-sign-in.ts'
import {
  type Address,
  type AnyParameters,
  type Body,
  buildAddress,
  type Method,
  type Parameters,
  type Reply,
} from './operation.ts'
import { ApiProblem, createOfflineProblem, parseProblem } from './problem.ts'

type Settings = {
  signal?: AbortSignal | undefined
  anonymous?: boolean
  accept?: string
  headers?: Record<string, string>
}
export type Options<M extends Method, A extends Address<M>> = Parameters<M, A> & Settings
type AnyOptions = AnyParameters & Settings & { body?: unknown }

/** Optional when no option is required. */
export type OptionsLast<M extends Method, A extends Address<M>> =
  Record<never, never> extends Options<M, A> ? [options?: Options<M, A>] : [options: Options<M, A>]
type BodyFirst<M extends Method, A extends Address<M>> =
  Record<never, never> extends Options<M, A>
    ? undefined extends Body<M, A>
      ? [body?: Body<M, A>, options?: Options<M, A>]
      : [body: Body<M, A>, options?: Options<M, A>]
    : [body: Body<M, A>, options: Options<M, A>]
type Send<M extends Method> = <A extends Address<M>>(
  address: A,
  ...rest: BodyFirst<M, A>
) => Promise<Reply<M, A>>

/** Calls by documented address; `path` fills its `{names}`. */
export const api = {
  get: <A extends Address<'GET'>>(
    address: A,
    ...[options]: OptionsLast<'GET', A>
  ): Promise<Reply<'GET', A>> => call('GET', address, options),
  post: sender('POST'),
  patch: sender('PATCH'),
  put: sender('PUT'),
  delete: sender('DELETE'),
}

function sender<M extends Method>(method: M): Send<M> {
  return (address, ...[body, options]) => call(method, address, { ...options, body })
}

/**
 * Returns the raw response, for downloads, headers and streams.
 * @throws ApiProblem unless the status is 2xx
 */
export function request<M extends Method, A extends Address<M>>(
  method: M,
  address: A,
  options: Options<M, A> & { body?: Body<M, A> },
): Promise<Response> {
  return fetchWithSession(method, address, options)
}

async function fetchWithSession(
  method: Method,
  address: string,
  options: AnyOptions = {},
): Promise<Response> {
  const token = options.anonymous ? null : await session.token()
  // Nobody is signed in, so the service would reply 401.
  if (token === null && !options.anonymous)
    throw new ApiProblem(401, t('You are signed out. Sign in again'), { code: 'unauthenticated' })

  let response = await send(method, address, options, token)

  if (response.status === 401 && token !== null) {
    const next = await session.tokenAfterRefusal(token)
    if (next !== null && next !== token) response = await send(method, address, options, next)
  }
  if (response.ok) return response
  let problem = await readProblem(response)
  if (problem.challenge !== null) {
    const { solveProof } = await import('./proof.ts')
    const proof = await solveProof(problem.challenge)
    if (proof === null) throw problem
    response = await send(
      method,
      address,
      { ...options, body: { ...(options.body as object), proof } },
      token,
    )
    if (response.ok) return response
    problem = await readProblem(response)
  }
  if (token === null || problem.code !== 'fresh_sign_in_required' || !(await freshSignIn.ask()))
    throw problem

  response = await send(method, address, options, await session.token())
  if (!response.ok) throw await readProblem(response)
  return response
}

async function readProblem(response: Response): Promise<ApiProblem> {
  return parseProblem(response.status, await readBody(response), response.headers)
}

/** Calls an address and returns the parsed reply. */
export async function call<M extends Method, A extends Address<M>>(
  method: M,
  address: A,
  options?: AnyOptions,
): Promise<Reply<M, A>> {
  return (await readBody(await fetchWithSession(method, address, options))) as Reply<M, A>
}

async function send(
  method: Method,
  address: string,
  options: AnyOptions,
  token: string | null,
): Promise<Response> {
  const headers = new Headers({
    accept: options.accept ?? 'application/json, text/event-stream;q=0.9',
    ...options.headers,
  })
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  if (token !== null) headers.set('authorization', `Bearer ${token}`)

  try {
    return await fetch(buildAddress(address, options), {
      method,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    })
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw createOfflineProblem()
  }
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return null
  }
}
