// Splits a vendor's bytes into server-sent events, and decodes only whole lines, so that a
// character is never decoded in halves.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

const [LF, CR, SPACE] = [10, 13, 32]
/** A larger event is an error. */
const EVENT_BYTES_MAX = 32 * 1024 * 1024

export type EventSplitter = {
  /** Passes each completed event's data to `onData`. @throws RangeError on an endless line */
  push(chunk: Buffer): void
}

/**
 * Skips events without data, comments and the fields `id`, `retry` and `event`: all three vendors
 * repeat the event's name in its data.
 * A line ends in LF or CRLF; a lone CR, which no vendor sends, does not end a line.
 * `pass` forwards whole events from an offset without splitting them, and returns the offset where
 * it stopped.
 */
export function splitEvents(
  onData: (data: string) => void,
  pass: (text: string, from: number) => number = () => 0,
): EventSplitter {
  let rest: Buffer[] = []
  let restBytes = 0
  let data: string | null = null
  let isFirst = true

  const readLines = (text: string) => {
    let start = 0
    while (start < text.length) {
      const passed = data === null ? pass(text, start) : start
      start = passed > start ? passed : readLine(text, start)
    }
  }

  /** Returns the start of the next line. */
  const readLine = (text: string, start: number): number => {
    const lf = text.indexOf('\n', start)
    const lineEnd = lf === -1 ? text.length : lf
    const end = lineEnd > start && text.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd
    if (end === start) endEvent()
    else if (text.startsWith('data:', start)) {
      const from = text.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5
      const line = text.slice(from, end)
      data = data === null ? line : `${data}\n${line}`
    }
    return lineEnd + 1
  }

  const endEvent = () => {
    if (data === null) return
    const event = data
    data = null
    onData(event)
  }

  return {
    push(chunk) {
      const lineEnd = chunk.lastIndexOf(LF)
      if (lineEnd === -1) {
        restBytes += chunk.length
        if (restBytes > EVENT_BYTES_MAX) throw new RangeError('an event without an end')
        rest.push(chunk)
        return
      }
      let text: string
      if (restBytes === 0) {
        text = chunk.toString('utf8', 0, lineEnd + 1)
      } else {
        rest.push(chunk.subarray(0, lineEnd + 1))
        text = Buffer.concat(rest).toString('utf8')
        rest = []
        restBytes = 0
      }
      if (lineEnd + 1 < chunk.length) {
        // undici allocates a buffer per chunk, so keeping a part of it is safe.
        rest.push(chunk.subarray(lineEnd + 1))
        restBytes = chunk.length - lineEnd - 1
      }
      if (isFirst) {
        isFirst = false
        if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
      }
      readLines(text)
    },
  }
}
