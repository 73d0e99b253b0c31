import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { formatCompact, formatCount, formatDollars } from '../components/format.ts'

export type Bar = { name: string; value: number }
type UsageChartProps = { buildBars: Bar[]; measure: 'tokens' | 'requests' | 'cost' }

const NAMES = { tokens: 'Tokens', requests: 'Requests', cost: 'Cost' } as const

/** A picture of the table view, which says the same in words and numbers. */
export function UsageChart({ buildBars, measure }: UsageChartProps) {
  const total = buildBars.reduce((sum, { value }) => sum + value, 0)
  const highest = buildBars.reduce<Bar | null>(
    (high, bar) => (high && high.value >= bar.value ? high : bar),
    null,
  )
  const written = (value: number) =>
    measure === 'cost' ? formatDollars(value) : formatCount(value)
  return (
    <figure
      style={{ margin: 0 }}
      aria-label={`${NAMES[measure]}: ${written(total)} in all${highest ? `, most in ${highest.name} with ${written(highest.value)}` : ''}. The table view has every number.`}
    >
      <div aria-hidden>
        <BarChart
          h={320}
          data={buildBars}
          dataKey="name"
          series={[
            { name: 'value', label: NAMES[measure], color: 'var(--mantine-primary-color-filled)' },
          ]}
          valueFormatter={written}
          yAxisProps={{
            tickFormatter: (value: number) =>
              measure === 'cost' ? formatDollars(value) : formatCompact(value),
            width: 64,
          }}
          barProps={{ radius: [4, 4, 0, 0], isAnimationActive: false, maxBarSize: 56 }}
          barChartProps={{ accessibilityLayer: false }}
          tickLine="none"
          gridAxis="x"
        />
      </div>
    </figure>
  )
}
