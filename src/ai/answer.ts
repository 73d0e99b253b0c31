// Answers a call, whole or as a stream, from the cache or from a model, in the words of whichever API its caller speaks.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cachedReply } from './cached-reply.ts'
import { type Completion, complete, type Gateway, type GatewayCall, stream } from './gateway.ts'
import { type StreamEncoder, sendAnswerStream } from './stream-encoder.ts'

/** `encoder`: of the stream that is wanted; null: the whole answer, as `bodyOf` puts it. @throws as `cachedReply`, `complete`, `stream` */
export function answered<T>(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  call: GatewayCall,
  encoder: StreamEncoder | null,
  bodyOf: (completion: Completion) => T,
): Promise<T | FastifyReply> {
  return cachedReply(
    gateway,
    request,
    reply,
    call,
    { isStream: encoder !== null },
    async (keeper) => {
      if (encoder !== null)
        return sendAnswerStream(request, reply, gateway, stream(gateway, call), encoder, keeper)
      const completion = await complete(gateway, call)
      reply.headers(completion.headers)
      return bodyOf(completion)
    },
  )
}
