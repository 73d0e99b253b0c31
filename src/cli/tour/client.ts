// A plain HTTP client like a customer's program, without code of the service.
export type Answer = {
  status: number
  headers: Headers
  body: Record<string, unknown>
  bytes: Uint8Array
  text: string
}

export type Call = {
  bearer?: string
  cookie?: string
  json?: unknown
  form?: FormData | URLSearchParams
  headers?: Record<string, string>
}

/** Sends a request. @throws Error with the reply when its status is not expected. */
export async function call(
  method: string,
  url: string,
  { bearer, cookie, json, form, headers = {} }: Call = {},
  expected: number[] = [200],
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
      ...(cookie ? { cookie } : {}),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? (form ? { body: form } : {}) : { body: JSON.stringify(json) }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const isText = /json|text|event-stream/.test(response.headers.get('content-type') ?? '')
  const text = isText ? new TextDecoder().decode(bytes) : ''
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  if (!expected.includes(response.status))
    throw new Error(
      `${method} ${new URL(url).pathname} answered ${response.status}: ${text.slice(0, 300)}`,
    )
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    body: isJson && text ? JSON.parse(text) : {},
  }
}

export type StreamedAnswer = {
  text: string
  pieces: number
  firstMs: number
  sources: { content: string; score: number }[]
}

/** Reads a streamed answer up to `[DONE]`. @throws Error when the stream is incomplete. */
export async function stream(
  url: string,
  bearer: string,
  json: unknown,
  onPiece: (piece: string) => void,
): Promise<StreamedAnswer> {
  const started = performance.now()
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  if (!response.ok || !response.body)
    throw new Error(
      `POST ${new URL(url).pathname} answered ${response.status}: ${await response.text()}`,
    )

  const answer: StreamedAnswer = { text: '', pieces: 0, firstMs: 0, sources: [] }
  for await (const { name, data } of readEvents(response.body)) {
    if (data === '[DONE]') return answer
    const value = JSON.parse(data)
    if (name === 'error') throw new Error(`the stream broke: ${value.detail}`)
    if (name === 'sources') answer.sources = Array.isArray(value) ? value : value.sources
    if (name !== undefined) continue
    if (answer.pieces++ === 0) answer.firstMs = performance.now() - started
    answer.text += value.token
    onPiece(value.token)
  }
  throw new Error('the stream ended without [DONE]')
}

/** Yields server-sent events that have data. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let buffer = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    const events = buffer.split('\n\n')
    buffer = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield { name: /^event: (.*)$/m.exec(event)?.[1], data }
    }
  }
}

/** Repeats `look` until it returns a value. @throws Error after `limitMs` */
export async function until<T>(
  look: () => Promise<T | null>,
  what = 'something to see',
  limitMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1_000} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}
