import { request } from '../api/client.ts'
import { ApiProblem, sentence } from '../api/problem.ts'
import { type Ending, type Piece, readStream } from './stream.ts'

/** Posts a body and reads the token stream that answers it. Failures before the first token end it as `failed` too. */
export async function openStream(
  path: string,
  body: object,
  { signal, onPiece }: { signal: AbortSignal; onPiece: (piece: Piece) => void },
): Promise<Ending> {
  try {
    const response = await request('POST', path, { body: { ...body, stream: true }, signal })
    if (!response.body) return { kind: 'cut' }
    return await readStream(response.body, onPiece, signal)
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped' }
    return { kind: 'failed', detail: error instanceof ApiProblem ? sentence(error) : 'The answer could not be read.' }
  }
}
