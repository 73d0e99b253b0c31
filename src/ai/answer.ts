// Answers a chat request from the reply cache or from a model, in the format of the caller's API.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DONE, streamProblem } from '#platform/http/sse.ts'
import { openCacheSlot } from './cached-reply.ts'
import { type Completion, complete, type GatewayCall, stream } from './chat-call.ts'
import type { Gateway } from './gateway.ts'
import { type StreamEncoder, sendEventStream } from './stream-encoder.ts'

/** Sends a whole answer as `toBody` returns it, or a stream through `encoder`. */
export async function sendAnswer<T>(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  call: GatewayCall,
  encoder: StreamEncoder | null,
  toBody: (completion: Completion) => T,
): Promise<T | FastifyReply> {
  const slot = openCacheSlot(gateway, request, reply, call, { isStream: encoder !== null })
  const cached = slot === null ? null : await slot.replay()
  if (cached !== null) return cached as T | FastifyReply

  if (encoder === null) {
    const completion = await complete(gateway, call)
    reply.headers(completion.headers)
    const body = toBody(completion)
    await slot?.keepBody(body)
    return body
  }

  const recorder = slot?.createRecorder() ?? null
  return sendEventStream(
    reply,
    gateway.silenceMs,
    stream(gateway, call),
    (answer) => answer.headers,
    async (events, answer) => {
      const { batch, end } = encoder.answer(answer)
      await answer.each((chunks) => {
        const text = batch(chunks)
        recorder?.add(text)
        return events.write(text)
      })
      const last = end()
      await recorder?.keep(encoder.endsWithDone === false ? last : `${last}${DONE}`, answer)
      if (last !== '') void events.write(last)
      if (encoder.endsWithDone === false) events.end()
    },
    (error) => encoder.failure(streamProblem(error, request.id)),
  )
}
