// Tests whether two samples of times have the same distribution: Welch's t-test of the means and
// the Mann–Whitney U test of the ranks.

export type Comparison = {
  /** Difference of the medians in ms: first minus second. */
  differenceMs: number
  t: number
  z: number
  /** Two-sided probability that chance causes the larger of the two differences. */
  p: number
}

export function compare(first: number[], second: number[]): Comparison {
  const t = welch(first, second)
  const z = mannWhitney(first, second)
  return {
    differenceMs: median(first) - median(second),
    t,
    z,
    p: Math.min(twoSided(t), twoSided(z)),
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function welch(a: number[], b: number[]): number {
  return (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length)
}

/** Uses the normal approximation, because times rarely tie. */
function mannWhitney(a: number[], b: number[]): number {
  const all = [
    ...a.map((value) => ({ value, first: true })),
    ...b.map((value) => ({ value, first: false })),
  ]
  all.sort((left, right) => left.value - right.value)
  const rankSum = all.reduce((sum, { first }, index) => sum + (first ? index + 1 : 0), 0)
  const u = rankSum - (a.length * (a.length + 1)) / 2
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12)
  return (u - (a.length * b.length) / 2) / deviation
}

/**
 * Returns the two-sided probability of a standard normal deviate (Abramowitz and Stegun 7.1.26,
 * exact to 1.5e-7). With a thousand samples, t is normal too.
 */
function twoSided(deviate: number): number {
  const x = Math.abs(deviate) / Math.SQRT2
  const k = 1 / (1 + 0.3275911 * x)
  const series =
    k *
    (0.254829592 + k * (-0.284496736 + k * (1.421413741 + k * (-1.453152027 + k * 1.061405429))))
  return series * Math.exp(-x * x)
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function variance(values: number[]): number {
  const center = mean(values)
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1)
}
