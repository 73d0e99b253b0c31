import { SegmentedControl } from '@mantine/core'
import { NativeFilter, useSetSearch } from '../components/filters.tsx'
import { t } from '../language/text.ts'

type UsageFiltersProps = { days: number; groupings: { value: string; label: string }[] }

/** Period and grouping of the usage pages. */
export function UsageFilters({ days, groupings }: UsageFiltersProps) {
  const setSearch = useSetSearch()
  return (
    <>
      <SegmentedControl
        aria-label={t('Period')}
        value={`${days}`}
        onChange={(value) => setSearch({ days: value === '30' ? undefined : Number(value) })}
        data={['7', '30', '90'].map((value) => ({ value, label: t('{0} days', value) }))}
      />
      <NativeFilter name="group_by" aria-label={t('Group by')} data={groupings} />
    </>
  )
}
