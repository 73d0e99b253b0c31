/**
 * Gathers tokens and hands them on once per frame: a fast model sends hundreds a second, and drawing Markdown for each
 * one would starve the page. `flush` hands on what is left.
 */
export function createTextPacer(onText: (text: string) => void) {
  let waiting = ''
  let frame = 0

  function flush() {
    cancelAnimationFrame(frame)
    frame = 0
    if (waiting === '') return
    const text = waiting
    waiting = ''
    onText(text)
  }

  return {
    push(token: string) {
      waiting += token
      if (frame === 0) frame = requestAnimationFrame(flush)
    },
    flush,
  }
}
