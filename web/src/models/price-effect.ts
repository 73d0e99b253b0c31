import { formatCompact } from '../components/format.ts'
import { t } from '../language/text.ts'

/**
 * Returns `at 8 times the cost (+700 %)`. `ratio`: new cost divided by current cost; null when
 * unknown.
 */
export function priceEffect(ratio: number | null): string {
  if (ratio === null) return t('at an unknown cost')
  const percent = Math.round((ratio - 1) * 100)
  if (percent === 0) return t('at the same cost')
  if (ratio >= 2)
    return t('at {0} times the cost (+{1} %)', formatCompact(ratio), formatCompact(percent))
  return percent > 0 ? t('at {0} % more cost', percent) : t('at {0} % less cost', -percent)
}
