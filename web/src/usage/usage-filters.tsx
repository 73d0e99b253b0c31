import { NativeSelect, SegmentedControl } from '@mantine/core'

type UsageFiltersProps<Grouping extends string> = {
  days: number
  groupedBy: Grouping
  /** The first is what counts where nothing is said. */
  groupings: readonly (readonly [Grouping, string])[]
  /** What the address leaves out is undefined. */
  onChange: (next: { days?: number | undefined; group_by?: Grouping | undefined }) => void
}

/** Of which time, and by what: on the page of a user and on that of the operator. */
export function UsageFilters<Grouping extends string>({
  days,
  groupedBy,
  groupings,
  onChange,
}: UsageFiltersProps<Grouping>) {
  return (
    <>
      <SegmentedControl
        aria-label="Time"
        value={`${days}`}
        onChange={(value) => onChange({ days: value === '30' ? undefined : Number(value) })}
        data={['7', '30', '90'].map((value) => ({ value, label: `${value} days` }))}
      />
      <NativeSelect
        aria-label="By"
        value={groupedBy}
        onChange={({ currentTarget: { value } }) =>
          onChange({ group_by: groupings.slice(1).find(([grouping]) => grouping === value)?.[0] })
        }
        data={groupings.map(([value, label]) => ({ value, label }))}
      />
    </>
  )
}
