/**
 * Passes tokens on once per frame, because rendering Markdown for hundreds of tokens a second
 * would block the page.
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
