// Limits a vendor's silence. One timer per call checks the time of the last byte, so that a byte
// costs only a read of the clock.

export type SilenceLimit = {
  reset(): void
  /** Sets the limit from now on. */
  limit(ms: number): void
  /** Suspends the limit while the reader is paused. */
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
      // The running timer applies the new limit at its next check.
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
