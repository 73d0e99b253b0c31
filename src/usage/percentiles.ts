export type Percentiles = { p50: number; p95: number }
export type Durations = { latency_ms: Percentiles | null; first_token_ms: Percentiles | null }

/** Calls without a stream have no first token. */
export function computeDurations(
  calls: readonly { latency_ms: number; first_token_ms: number | null }[],
): Durations {
  return {
    latency_ms: computePercentiles(calls.map((one) => one.latency_ms)),
    first_token_ms: computePercentiles(calls.flatMap((one) => one.first_token_ms ?? [])),
  }
}

/** Computes percentiles by nearest rank; null without values. */
export function computePercentiles(values: number[]): Percentiles | null {
  const sorted = values.sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) }
}
