import { type Options, request } from '../api/client.ts'
import type { Address, Body } from '../api/operation.ts'
import { ApiProblem, messageOf } from '../api/problem.ts'
import { abortedEnding, type Ending, readStream, type StreamEvent } from './stream.ts'

/** Of the operations that stream when their body asks for it. */
type StreamAddress = {
  [A in Address<'POST'>]: 'stream' extends keyof Body<'POST', A> ? A : never
}[Address<'POST'>]

/** Posts a body and reads the token stream that answers it. Failures before the first token end it as `failed` too. */
export async function openStream<A extends StreamAddress>(
  address: A,
  body: Omit<Body<'POST', A>, 'stream'>,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: StreamEvent) => void },
): Promise<Ending> {
  try {
    const asked = { body: { ...body, stream: true }, signal }
    const response = await request('POST', address, asked as unknown as Options<'POST', A>)
    if (!response.body) return { kind: 'cut' }
    const ending = await readStream(response.body, onEvent, signal)
    return ending.kind === 'failed'
      ? { ...ending, requestId: response.headers.get('x-request-id') }
      : ending
  } catch (error) {
    if (signal.aborted) return abortedEnding(signal)
    if (!(error instanceof ApiProblem))
      return { kind: 'failed', detail: 'The answer could not be read.', code: null }
    const { code, reason, status, requestId } = error
    return { kind: 'failed', detail: messageOf(error), code, reason, status, requestId }
  }
}
