import { NativeSelect, SegmentedControl } from '@mantine/core'
import { t } from '../language/text.ts'

type UsageFiltersProps<Grouping extends string> = {
  days: number
  groupedBy: Grouping
  /** The first one is the default. */
  groupings: readonly (readonly [Grouping, string])[]
  /** Undefined values leave the address. */
  onChange: (next: { days?: number | undefined; group_by?: Grouping | undefined }) => void
}

/** Period and grouping of the usage pages. */
export function UsageFilters<Grouping extends string>({
  days,
  groupedBy,
  groupings,
  onChange,
}: UsageFiltersProps<Grouping>) {
  return (
    <>
      <SegmentedControl
        aria-label={t('Period')}
        value={`${days}`}
        onChange={(value) => onChange({ days: value === '30' ? undefined : Number(value) })}
        data={['7', '30', '90'].map((value) => ({ value, label: t('{0} days', value) }))}
      />
      <NativeSelect
        aria-label={t('Group by')}
        value={groupedBy}
        onChange={({ currentTarget: { value } }) =>
          onChange({ group_by: groupings.slice(1).find(([grouping]) => grouping === value)?.[0] })
        }
        data={groupings.map(([value, label]) => ({ value, label }))}
      />
    </>
  )
}
