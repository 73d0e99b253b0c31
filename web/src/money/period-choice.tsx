import { NativeSelect } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { t } from '../language/text.ts'

const route = getRouteApi('/app/run/run/money')

const PERIODS = [1, 7, 30, 90, 365] as const

/** The last days of a view; the address holds them. */
export function PeriodChoice() {
  const { days = 30 } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <NativeSelect
      aria-label={t('Period')}
      value={`${days}`}
      onChange={({ currentTarget: { value } }) => {
        const chosen = PERIODS.find((period) => `${period}` === value)
        void navigate({
          search: (search) => ({ ...search, days: chosen === 30 ? undefined : chosen }),
          replace: true,
          resetScroll: false,
        })
      }}
      data={PERIODS.map((period) => ({
        value: `${period}`,
        label: period === 1 ? t('Today') : t('Last {0} days', period),
      }))}
    />
  )
}
