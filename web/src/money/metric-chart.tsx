import type { BusinessMetrics, MetricInterval, MetricTotal } from '../api/types.ts'
import { formatUtcDay, formatUtcMonth } from '../components/format.ts'
import { t } from '../language/text.ts'
import { BarChart } from '../usage/usage-chart.tsx'
import { formatMetric, formatTick, nameLine } from './metric-words.ts'

type MetricChartProps = {
  metrics: BusinessMetrics
  line: MetricTotal
  label: string
  interval?: MetricInterval
  height?: number
}

/** One metric over the period; the exported CSV has the same numbers. */
export function MetricChart({
  metrics,
  line,
  label,
  interval = 'day',
  height = 320,
}: MetricChartProps) {
  const series = metrics.series.find((one) => nameLine(one) === nameLine(line))
  const bars = metrics.starts.map((start, index) => ({
    key: start,
    name: interval === 'month' ? formatUtcMonth(start) : formatUtcDay(start),
    value: series?.values[index] ?? 0,
  }))
  return (
    <BarChart
      bars={bars}
      height={height}
      label={t(
        '{0}: {1} in this period. Export CSV for every number.',
        label,
        formatMetric(line, line.value),
      )}
      format={(value) => formatMetric(line, value)}
      formatTick={(value) => formatTick(line, value)}
    />
  )
}
