// Decides whether a small difference is significant: measures two versions in turn, in several
// generations of processes. Two processes of the same code differ by some per cent as long as they
// live (compilation order, memory layout), so a generation counts as one sample, however many
// rounds it has. A twin (the same code again) shows the size of a difference without a cause.
import { quantile } from './table.ts'

/** 95 % confidence interval of the mean. */
export type Interval = { low: number; mean: number; high: number }

/** Student's t for 95 %, by degrees of freedom, starting at 1. */
const T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]

/** @param samples One per generation, at least two. */
export function computeInterval(samples: readonly number[]): Interval {
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length
  const variance = samples.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (samples.length - 1)
  const half = (T[samples.length - 2] ?? 2.1) * Math.sqrt(variance / samples.length)
  return { low: mean - half, mean, high: mean + half }
}

/**
 * Returns one generation's result: the median of its rounds' paired differences as a share of the
 * base.
 */
export function pairedChange(values: readonly number[], base: readonly number[]): number {
  const changes = values.map((value, round) => value / (base[round] ?? Number.NaN) - 1)
  return quantile(
    changes.sort((a, b) => a - b),
    0.5,
  )
}

/** Returns the largest plausible difference between two copies of the same code. */
export const computeNoise = (twin: Interval): number =>
  Math.max(Math.abs(twin.low), Math.abs(twin.high))

export function judgeChange(
  change: Interval,
  noise: number,
  max: number,
): 'ok' | 'FAILED' | 'inconclusive' {
  if (noise > max) return 'inconclusive'
  if (change.high <= max) return 'ok'
  return change.low > max ? 'FAILED' : 'inconclusive'
}

export const percent = (share: number): string =>
  `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`
