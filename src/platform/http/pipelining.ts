/**
 * Serves the pipelined requests of a connection a few at a time. Otherwise Node would parse all
 * requests of a 64 KB read, up to a thousand, and call their handlers in one turn of the event
 * loop, while all other connections wait.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are handled at once. */
export const PIPELINED_AT_ONCE = 8
/**
 * The connection closes when more requests than this wait. The client may repeat requests without a
 * reply (RFC 9112, 9.3.2).
 */
export const PIPELINED_MAX = 64

type Waiting = { running: number; queue: [IncomingMessage, ServerResponse][] }

/** Replaces the server's request handler by one that handles a connection's requests in turn. */
export function pacePipelines(server: Server): void {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  const connections = new WeakMap<Socket, Waiting>()

  server.on('request', (request, response) => {
    const { socket } = request
    let waiting = connections.get(socket)
    if (!waiting) {
      waiting = { running: 0, queue: [] }
      connections.set(socket, waiting)
    }
    if (waiting.running < PIPELINED_AT_ONCE && waiting.queue.length === 0)
      serve(waiting, request, response)
    else if (waiting.queue.length < PIPELINED_MAX) waiting.queue.push([request, response])
    else {
      waiting.queue.length = 0
      socket.destroy()
    }
  })

  function serve(waiting: Waiting, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    // After a reply that closes the connection, the client cannot receive the next one.
    if (socket.destroyed || socket.writableEnded) {
      waiting.queue.length = 0
      return
    }
    waiting.running++
    response.once('close', () => {
      waiting.running--
      if (waiting.queue.length > 0) setImmediate(next, waiting)
    })
    for (const handle of handlers) handle.call(server, request, response)
  }

  function next(waiting: Waiting): void {
    const first = waiting.running < PIPELINED_AT_ONCE ? waiting.queue.shift() : undefined
    if (first) serve(waiting, ...first)
  }
}
