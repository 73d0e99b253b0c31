import type { FastifyReply } from 'fastify'

/** Aborts when the client closes its connection before the reply is finished. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const { raw } = reply
  if (raw.destroyed) controller.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
