// Guards the printing of a stream: one write for each batch of pieces, in one of two dialects of server-sent events.
// One thing to know: a write that fills the client's buffers is waited for, and nothing is read from the vendor meanwhile.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { openStream, streamErrorDetail } from '#platform/http/sse.ts'
import type { CompletionStream } from './gateway.ts'
import type { Piece } from './vendors/vendor.ts'

/** How a dialect says things. */
export type Printer = {
  batch(pieces: Piece[]): string
  /** Before the last line, `[DONE]`. */
  end(): string
  /** A cut answer; no `[DONE]` follows. */
  failure(detail: string): string
}

/** `data: {"token":"…"}` for each piece with words; the product's own dialect. */
export function tokenLines(pieces: Piece[]): string {
  let text = ''
  for (const piece of pieces) if (piece.text !== '') text += `data: {"token":${JSON.stringify(piece.text)}}\n\n`
  return text
}

export const tokens: Printer = {
  batch: tokenLines,
  end: () => '',
  failure: (detail) => `event: error\ndata: ${JSON.stringify({ detail })}\n\n`,
}

/** Takes the reply over and prints until the end, the cut, or the client's leaving. */
export async function printAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: CompletionStream,
  dialect: 'tokens' | Printer,
): Promise<FastifyReply> {
  const printer = dialect === 'tokens' ? tokens : dialect
  reply.headers(answer.headers)
  const events = openStream(reply)
  try {
    await answer.each((pieces) => events.write(printer.batch(pieces)))
    const last = printer.end()
    if (last !== '') void events.write(last)
    events.done()
  } catch (error) {
    if (!events.signal.aborted) void events.write(printer.failure(streamErrorDetail(error, request.id)))
    events.end()
  }
  return reply
}
