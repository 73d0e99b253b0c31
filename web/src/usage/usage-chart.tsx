import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { compact, count, dollars } from '../components/format.ts'

export type Bar = { name: string; value: number }
type UsageChartProps = { bars: Bar[]; measure: 'tokens' | 'requests' | 'cost' }

const NAMES = { tokens: 'Tokens', requests: 'Requests', cost: 'Cost' } as const

/** A picture of the table view, which says the same in words and numbers. */
export function UsageChart({ bars, measure }: UsageChartProps) {
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  const highest = bars.reduce<Bar | null>(
    (high, bar) => (high && high.value >= bar.value ? high : bar),
    null,
  )
  const written = (value: number) => (measure === 'cost' ? dollars(value) : count(value))
  return (
    <figure
      style={{ margin: 0 }}
      aria-label={`${NAMES[measure]}: ${written(total)} in all${highest ? `, most in ${highest.name} with ${written(highest.value)}` : ''}. The table view has every number.`}
    >
      <div aria-hidden>
        <BarChart
          h={320}
          data={bars}
          dataKey="name"
          series={[
            { name: 'value', label: NAMES[measure], color: 'var(--mantine-primary-color-filled)' },
          ]}
          valueFormatter={written}
          yAxisProps={{
            tickFormatter: (value: number) =>
              measure === 'cost' ? dollars(value) : compact(value),
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
