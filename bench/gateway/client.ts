// A client with low CPU cost: prebuilt request bytes, keep-alive sockets for whole replies, one
// socket per stream.
import { connect, type Socket } from 'node:net'

export type Target = { name: string; port: number; path: string; headers: Record<string, string> }

export function requestBytes({ port, path, headers }: Target, body: object): Buffer {
  const text = JSON.stringify(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n${lines.join('')}\r\n${text}`,
  )
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
}

export type WholeResult = {
  requests: number
  perSecond: number
  times: Float64Array
  errors: number
  firstError: string | null
}

/** Sends requests over `inFlight` sockets, one at a time on each, for `seconds`. */
export async function askWhole(
  target: Target,
  body: object,
  inFlight: number,
  seconds: number,
): Promise<WholeResult> {
  const request = requestBytes(target, body)
  const times: number[] = []
  let errors = 0
  let firstError: string | null = null
  const startedMs = performance.now()
  const deadlineMs = startedMs + seconds * 1_000

  const runConnection = async () => {
    const socket = await openSocket(target.port)
    await new Promise<void>((resolve) => {
      let sentMs = 0
      let text = ''
      const send = () => {
        if (performance.now() >= deadlineMs) {
          socket.destroy()
          resolve()
          return
        }
        text = ''
        sentMs = performance.now()
        socket.write(request)
      }
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        if (!isWhole(text)) return
        if (!text.startsWith('HTTP/1.1 200')) {
          errors++
          firstError ??= text.slice(0, 600)
        }
        times.push(performance.now() - sentMs)
        send()
      })
      socket.on('error', () => {
        errors++
        resolve()
      })
      socket.on('close', () => resolve())
      send()
    })
  }
  await Promise.all(Array.from({ length: inFlight }, runConnection))
  const elapsedS = (performance.now() - startedMs) / 1_000
  return {
    requests: times.length,
    perSecond: times.length / elapsedS,
    times: Float64Array.from(times).sort(),
    errors,
    firstError,
  }
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined
    ? text.endsWith('0\r\n\r\n')
    : text.length >= head + 4 + Number(length)
}

/** The last event of chat completions, Anthropic's messages and OpenAI's responses. */
const END_MARKS = ['data: [DONE]', '"type":"message_stop"', '"type":"response.completed"']
const TOKEN_LENGTH_MAX = 12

export type StreamResult = {
  streams: number
  tokens: number
  /** Tokens that were early, late, duplicate or missing. */
  wrong: number
  incomplete: number
  firstTokenMs: Float64Array
  elapsedS: number
  firstError: string | null
}

/**
 * Reads `streams` streams, `atOnce` at a time. The first ones start evenly over `spreadMs`: callers
 * do not arrive at the same instant, and a burst would measure the CPU's queue.
 */
export async function askStreams(
  target: Target,
  body: (tokens: number) => object,
  tokens: number,
  streams: number,
  atOnce: number,
  spreadMs = 0,
): Promise<StreamResult> {
  const request = requestBytes(
    { ...target, headers: { ...target.headers, Connection: 'close' } },
    body(tokens),
  )
  const result = { tokens: 0, wrong: 0, incomplete: 0, firstError: null as string | null }
  const firsts: number[] = []
  let left = streams
  const startedMs = performance.now()

  const runStreams = async () => {
    const socket = await openSocket(target.port)
    let rest = ''
    let next = 0
    let isDone = false
    let head = ''
    const sentMs = performance.now()
    socket.write(request)
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        const text = rest + chunk.toString('latin1')
        if (head === '') head = text.slice(0, 400)
        // Chunk frames may split an event. A token's text is far shorter than the part saved for
        // the next read.
        let at = 0
        while (true) {
          const found = text.indexOf('" t', at)
          if (found < 0) break
          const end = text.indexOf('"', found + 3)
          if (end < 0) break
          if (end - found > TOKEN_LENGTH_MAX) {
            // Some APIs repeat the whole text at the end.
            at = end + 1
            continue
          }
          if (next === 0) firsts.push(performance.now() - sentMs)
          if (Number(text.slice(found + 3, end)) !== next) result.wrong++
          next++
          at = end + 1
        }
        if (END_MARKS.some((mark) => text.includes(mark))) isDone = true
        const lastQuote = text.indexOf('" t', at)
        rest = lastQuote >= 0 ? text.slice(lastQuote) : text.slice(Math.max(at, text.length - 16))
      })
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
    })
    result.tokens += next
    if (next !== tokens || !isDone) {
      result.incomplete++
      result.firstError ??= head
    }
  }
  const worker = async (_: unknown, index: number) => {
    if (spreadMs > 0)
      await new Promise((resolve) => setTimeout(resolve, (spreadMs * index) / atOnce))
    while (left-- > 0) await runStreams()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return {
    streams,
    ...result,
    firstTokenMs: Float64Array.from(firsts).sort(),
    elapsedS: (performance.now() - startedMs) / 1_000,
  }
}
