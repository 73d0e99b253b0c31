import { NativeFilter } from '../components/filters.tsx'
import { t } from '../language/text.ts'

/** The last days of a view; the address holds them. */
export function PeriodChoice() {
  return (
    <NativeFilter
      name="days"
      aria-label={t('Period')}
      data={[1, 7, 30, 90, 365].map((days) => ({
        value: days === 30 ? '' : `${days}`,
        label: days === 1 ? t('Today') : t('Last {0} days', days),
      }))}
    />
  )
}
