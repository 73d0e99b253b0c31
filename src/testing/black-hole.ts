// An address that accepts no connection, which a server in this process cannot simulate. A thread
// listens with the shortest queue and sleeps. Once the queue is full, the kernel answers no one,
// like a host behind a wrong firewall.
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'

const LISTENER = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`
const ANSWER_MS = 250
const QUEUE_MAX = 64

/** An address on which connecting never ends. */
export async function blackHole(t: Pick<TestContext, 'after'>): Promise<{ url: string }> {
  const worker = new Worker(LISTENER, { eval: true })
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await worker.terminate()
  })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  for (let tried = 0; tried < QUEUE_MAX; tried++) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    if (!(await connects(socket))) return { url: `http://127.0.0.1:${port}` }
  }
  throw new Error('the queue of connections never filled')
}

function connects(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ANSWER_MS)
    socket.on('error', () => {})
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
