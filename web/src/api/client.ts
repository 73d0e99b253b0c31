/**
 * The API client: adds the access token, renews it once after a 401, and turns every failure into an ApiProblem.
 * A session that cannot be renewed ends, and the router then leads to the sign-in page with the way back. Where the service asks
 * for a fresh sign-in, the person is asked to sign in again, and the request is repeated.
 */
import { session } from '../session/browser-session.ts'
import { freshSignIn } from '../session/fresh-sign-in.ts'
import { ApiProblem, offline, problemFrom } from './problem.ts'

type Query = Record<string, string | number | boolean | undefined>
type Options = { query?: Query; body?: unknown; signal?: AbortSignal | undefined; anonymous?: boolean; accept?: string }

export const api = {
  get: <T>(path: string, options?: Options) => call<T>('GET', path, options),
  post: <T>(path: string, body?: unknown, options?: Options) => call<T>('POST', path, { ...options, body }),
  patch: <T>(path: string, body?: unknown, options?: Options) => call<T>('PATCH', path, { ...options, body }),
  delete: <T>(path: string, body?: unknown, options?: Options) => call<T>('DELETE', path, { ...options, body }),
}

/** The raw answer, for downloads, headers and streams. Throws an ApiProblem unless it is a 2xx. */
export async function request(method: string, path: string, options: Options = {}): Promise<Response> {
  const token = options.anonymous ? null : await session.token()
  // Nobody is signed in (any more): the service would say so, there is no need to ask.
  if (token === null && !options.anonymous)
    throw new ApiProblem(401, 'You are not signed in any more', { code: 'unauthenticated' })

  let response = await send(method, path, options, token)

  if (response.status === 401 && token !== null) {
    const next = await session.tokenAfterRefusal(token)
    if (next !== null && next !== token) response = await send(method, path, options, next)
  }
  if (response.ok) return response
  const problem = await problemOf(response)
  if (token === null || problem.code !== 'fresh_sign_in_required' || !(await freshSignIn.ask())) throw problem

  response = await send(method, path, options, await session.token())
  if (!response.ok) throw await problemOf(response)
  return response
}

async function problemOf(response: Response): Promise<ApiProblem> {
  return problemFrom(response.status, await bodyOf(response), response.headers)
}

async function call<T>(method: string, path: string, options?: Options): Promise<T> {
  const response = await request(method, path, options)
  return (await bodyOf(response)) as T
}

async function send(method: string, path: string, options: Options, token: string | null): Promise<Response> {
  const headers = new Headers({ accept: options.accept ?? 'application/json, text/event-stream;q=0.9' })
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  if (token !== null) headers.set('authorization', `Bearer ${token}`)

  try {
    return await fetch(addressOf(path, options.query), {
      method,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    })
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw offline()
  }
}

function addressOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return text ? `${path}?${text}` : path
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return null
  }
}
