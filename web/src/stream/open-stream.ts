import { request } from '../api/client.ts'
import { ApiProblem, messageOf } from '../api/problem.ts'
import { abortedEnding, type Ending, readStream, type StreamEvent } from './stream.ts'

/** Posts a body and reads the token stream that answers it. Failures before the first token end it as `failed` too. */
export async function openStream(
  path: string,
  body: object,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: StreamEvent) => void },
): Promise<Ending> {
  try {
    const response = await request('POST', path, { body: { ...body, stream: true }, signal })
    if (!response.body) return { kind: 'cut' }
    const ending = await readStream(response.body, onEvent, signal)
    return ending.kind === 'failed' ? { ...ending, requestId: response.headers.get('x-request-id') } : ending
  } catch (error) {
    if (signal.aborted) return abortedEnding(signal)
    if (!(error instanceof ApiProblem)) return { kind: 'failed', detail: 'The answer could not be read.', code: null }
    const { code, reason, status, requestId } = error
    return { kind: 'failed', detail: messageOf(error), code, reason, status, requestId }
  }
}
