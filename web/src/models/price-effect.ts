import { formatCompact } from '../components/format.ts'

/**
 * Returns `at 8 times the cost (+700 %)`. `ratio`: new cost divided by current cost; null when
 * unknown.
 */
export function priceEffect(ratio: number | null): string {
  if (ratio === null) return 'at an unknown cost'
  const percent = Math.round((ratio - 1) * 100)
  if (percent === 0) return 'at the same cost'
  if (ratio >= 2) return `at ${formatCompact(ratio)} times the cost (+${formatCompact(percent)} %)`
  return percent > 0 ? `at ${percent} % more cost` : `at ${-percent} % less cost`
}
