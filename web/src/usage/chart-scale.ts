const STEPS = [1, 2, 2.5, 5, 10]
const INTERVALS = 4

/** Returns the values of the grid lines from 0 to a round number at or above `highest`. */
export function computeTicks(highest: number): number[] {
  if (highest <= 0) return [0, 1]
  const magnitude = 10 ** Math.floor(Math.log10(highest / INTERVALS))
  const step = magnitude * (STEPS.find((one) => one * magnitude * INTERVALS >= highest) ?? 10)
  const count = Math.ceil(highest / step)
  // Rounded to 12 digits, because 3 × 0.1 is 0.30000000000000004.
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** Returns the values of the grid lines around all values, with 0 among them. */
export function computeRangeTicks(lowest: number, highest: number): number[] {
  const step = computeTicks(Math.max(highest, -lowest))[1] ?? 1
  const below = Math.ceil(Math.max(0, -lowest) / step)
  const above = Math.max(below === 0 ? 1 : 0, Math.ceil(Math.max(0, highest) / step))
  return Array.from({ length: below + above + 1 }, (_, index) =>
    Number(((index - below) * step).toPrecision(12)),
  )
}

/**
 * Returns which of `count` bars get a name below them, so that at most `labelsMax` names are
 * shown.
 */
export function computeLabelStep(count: number, labelsMax: number): number {
  return Math.max(1, Math.ceil(count / Math.max(1, labelsMax)))
}
