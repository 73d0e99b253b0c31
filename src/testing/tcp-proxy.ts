// A TCP proxy that a test puts before a neighbour (database, Redis) to cut its connections, to
// freeze it, or to refuse new ones.
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type TcpProxy = {
  /** The neighbour's address, by way of the proxy. */
  url: string
  /** Ends every connection at once, as a server does that is restarted. */
  cut(): void
  /** Ends the connection of the next request instead of passing it on. */
  cutAtNext(): void
  /** Forwards nothing and closes nothing, like a hanging neighbour. */
  freeze(): void
  thaw(): void
  /** Forwards nothing on existing connections and does not close them; new ones work. */
  blackHole(): void
  /** New connections are refused, and existing ones are closed. */
  close(): Promise<void>
  open(): Promise<void>
}

export async function tcpProxy(t: Pick<TestContext, 'after'>, url: string): Promise<TcpProxy> {
  const target = new URL(url)
  const pairs = new Set<Socket[]>()
  let frozen = false
  let cutsNext = false

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    const pair = [near, far]
    pairs.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        if (cutsNext && from === near) {
          cutsNext = false
          near.resetAndDestroy()
        } else to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
      if (frozen) from.pause()
    }
  })
  const listen = (port: number) =>
    new Promise<void>(
      (resolve, reject) => void server.once('error', reject).listen(port, '127.0.0.1', resolve),
    )
  await listen(0)
  const { port } = server.address() as { port: number }

  const cut = () => {
    for (const sockets of pairs) for (const socket of sockets) socket.resetAndDestroy()
  }
  const each = (change: (socket: Socket) => void) => {
    for (const sockets of pairs) for (const socket of sockets) change(socket)
  }
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    cut()
    await closed
  }
  t.after(() => (server.listening ? close() : undefined))

  const near = new URL(url)
  near.hostname = '127.0.0.1'
  near.port = String(port)
  return {
    url: near.href,
    cut,
    cutAtNext() {
      cutsNext = true
    },
    freeze() {
      frozen = true
      each((socket) => socket.pause())
    },
    thaw() {
      frozen = false
      each((socket) => socket.resume())
    },
    blackHole: () => each((socket) => socket.pause()),
    close,
    open: () => listen(port),
  }
}
