import { type Options, request } from '../api/client.ts'
import type { Address, Body } from '../api/operation.ts'
import { ApiProblem, formatProblem } from '../api/problem.ts'
import { type Ending, readAbortedEnding, readStream, type StreamEvent } from './stream.ts'

/** Addresses of operations whose body has `stream`. */
type StreamAddress = {
  [A in Address<'POST'>]: 'stream' extends keyof Body<'POST', A> ? A : never
}[Address<'POST'>]

/**
 * Posts a body and reads the token stream. Failures before the first token end it as `failed` too.
 */
export async function openStream<A extends StreamAddress>(
  address: A,
  body: Omit<Body<'POST', A>, 'stream'>,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: StreamEvent) => void },
): Promise<Ending> {
  try {
    const options = { body: { ...body, stream: true }, signal }
    const response = await request('POST', address, options as unknown as Options<'POST', A>)
    if (!response.body) return { kind: 'cut' }
    const ending = await readStream(response.body, onEvent, signal)
    return ending.kind === 'failed'
      ? { ...ending, requestId: response.headers.get('x-request-id') }
      : ending
  } catch (error) {
    if (signal.aborted) return readAbortedEnding(signal)
    if (!(error instanceof ApiProblem))
      return { kind: 'failed', detail: 'Couldn’t read the answer. Try again.', code: null }
    const { code, reason, status, requestId } = error
    return { kind: 'failed', detail: formatProblem(error), code, reason, status, requestId }
  }
}
