// Splits a vendor's bytes into server-sent events, wherever the network cuts them.
// Bytes are decoded only up to the last line end of a chunk, so a character split between two chunks is never seen in
// halves. https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

const LF = 10
/** A single event larger than this is no event. */
const EVENT_BYTES_MAX = 32 * 1024 * 1024

export type EventSplitter = {
  /** Calls `onData` with the data of each event that `chunk` completes. @throws RangeError on an endless line. */
  push(chunk: Buffer): void
}

/**
 * Events without data, comments and the fields `id`, `retry` and `event` are passed over: all three vendors repeat
 * the event's name inside its data. A line ends in LF or CRLF; a lone CR, which no vendor sends, ends none.
 * `pass` takes whole events from a place in the text on without their being split, and tells where it stopped.
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
      if (data === null) {
        const passed = pass(text, start)
        if (passed > start) {
          start = passed
          continue
        }
      }
      let end = text.indexOf('\n', start)
      if (end === -1) end = text.length
      const next = end + 1
      if (text.charCodeAt(end - 1) === 13 && end > start) end--

      if (end === start) {
        if (data !== null) {
          const whole = data
          data = null
          onData(whole)
        }
      } else if (text.startsWith('data:', start)) {
        const from = text.charCodeAt(start + 5) === 32 ? start + 6 : start + 5
        const line = text.slice(from, end)
        data = data === null ? line : `${data}\n${line}`
      }
      start = next
    }
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
        // undici gives each chunk a buffer of its own, so keeping a part of it is safe.
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
