import { request } from '../api/client.ts'
import { ApiProblem, sentence } from '../api/problem.ts'
import { abortedEnding, type Ending, type Piece, readStream } from './stream.ts'

/** Posts a body and reads the token stream that answers it. Failures before the first token end it as `failed` too. */
export async function openStream(
  path: string,
  body: object,
  { signal, onPiece }: { signal: AbortSignal; onPiece: (piece: Piece) => void },
): Promise<Ending> {
  try {
    const response = await request('POST', path, { body: { ...body, stream: true }, signal })
    if (!response.body) return { kind: 'cut' }
    const ending = await readStream(response.body, onPiece, signal)
    return ending.kind === 'failed' ? { ...ending, requestId: response.headers.get('x-request-id') } : ending
  } catch (error) {
    if (signal.aborted) return abortedEnding(signal)
    if (!(error instanceof ApiProblem)) return { kind: 'failed', detail: 'The answer could not be read.', code: null }
    const { code, reason, status, requestId } = error
    return { kind: 'failed', detail: sentence(error), code, reason, status, requestId }
  }
}
