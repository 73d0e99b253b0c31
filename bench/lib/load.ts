// A load generator with low CPU cost: keep-alive sockets, prebuilt request bytes, replies counted
// by their length.
import { connect } from 'node:net'
import { quantile } from './table.ts'

export type LoadResult = {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  errors: number
}

export type LoadOptions = {
  port: number
  path: string
  headers?: Record<string, string>
  /** JSON body of a POST; without it the request is a GET. */
  body?: string
  connections: number
  seconds: number
  /** Ends the load after this many requests. */
  requests?: number
}

/**
 * Sends requests to 127.0.0.1 over `connections` sockets, each with one request in flight, for a
 * bounded time.
 */
export async function load({
  port,
  path,
  headers = {},
  body,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
}: LoadOptions): Promise<LoadResult> {
  const sent =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries({ ...headers, ...sent }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const request = Buffer.from(
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n${body ?? ''}`,
  )
  const times: number[] = []
  let errors = 0
  let left = requests
  const startedMs = performance.now()
  const deadlineMs = startedMs + seconds * 1_000

  await Promise.all(Array.from({ length: connections }, () => one()))
  const elapsedS = (performance.now() - startedMs) / 1_000
  const sorted = Float64Array.from(times).sort()
  return {
    requests: times.length,
    perSecond: times.length / elapsedS,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    errors,
  }

  async function one(): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    await new Promise<void>((resolve) => {
      let sentMs = 0
      let buffer: Buffer = Buffer.alloc(0)
      const send = () => {
        if (performance.now() >= deadlineMs || left-- <= 0) return finish()
        sentMs = performance.now()
        socket.write(request)
      }
      const finish = () => {
        socket.destroy()
        resolve()
      }
      socket.on('data', (chunk: Buffer) => {
        buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
        const end = replyEnd(buffer)
        if (end === null) return
        if (!buffer.subarray(0, 12).toString('latin1').includes(' 200')) errors++
        buffer = buffer.subarray(end)
        times.push(performance.now() - sentMs)
        send()
      })
      socket.on('error', () => {
        errors++
        finish()
      })
      send()
    })
  }
}

/** Returns the end of the first complete reply; null when it has not arrived. */
function replyEnd(buffer: Buffer): number | null {
  const head = buffer.indexOf('\r\n\r\n')
  if (head < 0) return null
  const headers = buffer.subarray(0, head).toString('latin1')
  const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1]
  if (length === undefined) {
    if (!/\r\ntransfer-encoding: chunked/i.test(headers)) throw new Error('the reply has no length')
    const last = buffer.indexOf('\r\n0\r\n\r\n', head)
    return last < 0 ? null : last + 7
  }
  const end = head + 4 + Number(length)
  return buffer.length >= end ? end : null
}
