// Whether a small difference was shown: two things measured in turn, in several generations of processes. One process differs from
// another of the same code by some per cent for as long as it lives (what was compiled when, what lies where), so a generation is one
// sample, however many rounds it had; and a twin, the same code once more, tells what no difference looks like.
import { quantile } from './table.ts'

/** Of the mean: 95 of 100 such intervals hold the true one. */
export type Interval = { low: number; mean: number; high: number }

/** Student's t for 95 %, by degrees of freedom from 1 on. */
const T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]

/** @param samples One of each generation; two at least. */
export function computeInterval(samples: readonly number[]): Interval {
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length
  const variance = samples.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (samples.length - 1)
  const half = (T[samples.length - 2] ?? 2.1) * Math.sqrt(variance / samples.length)
  return { low: mean - half, mean, high: mean + half }
}

/** What one generation says: the median of its rounds' paired differences, as a share of what it is compared with. */
export function pairedChange(values: readonly number[], base: readonly number[]): number {
  const changes = values.map((value, round) => value / (base[round] ?? Number.NaN) - 1)
  return quantile(
    changes.sort((a, b) => a - b),
    0.5,
  )
}

/** How far two copies of the same were apart, at most. */
export const computeNoise = (twin: Interval): number =>
  Math.max(Math.abs(twin.low), Math.abs(twin.high))

export function judgeChange(
  change: Interval,
  noise: number,
  max: number,
): 'holds' | 'BROKEN' | 'not shown' {
  if (noise > max) return 'not shown'
  if (change.high <= max) return 'holds'
  return change.low > max ? 'BROKEN' : 'not shown'
}

export const percent = (share: number): string =>
  `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`
