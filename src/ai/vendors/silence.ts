// A limit on a vendor's silence. One timer a call, wound up again when it finds that something was heard meanwhile: a byte
// costs a look at the clock.

export type SilenceLimit = {
  reset(): void
  /** From now on it may be silent for so long. */
  limit(ms: number): void
  /** Nobody listens for a while: nothing counts as silence until it is resumed. */
  pause(): void
  resume(): void
  stop(): void
}

export function limitSilence(firstMs: number, onSilence: (limitMs: number) => void): SilenceLimit {
  let limitMs = firstMs
  let lastByteMs = performance.now()
  let isPaused = false

  const check = () => {
    const leftMs = isPaused ? limitMs : limitMs - (performance.now() - lastByteMs)
    if (leftMs > 0) timer = setTimeout(check, Math.ceil(leftMs))
    else onSilence(limitMs)
  }
  let timer = setTimeout(check, limitMs)

  return {
    reset() {
      lastByteMs = performance.now()
    },
    limit(ms) {
      const isLater = ms >= limitMs
      limitMs = ms
      // The timer finds it when it looks.
      if (isLater) return
      clearTimeout(timer)
      timer = setTimeout(check, ms)
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      lastByteMs = performance.now()
    },
    stop: () => clearTimeout(timer),
  }
}
