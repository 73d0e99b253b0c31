import { useElementSize } from '@mantine/hooks'
import { formatCompact, formatCount, formatDollars } from '../components/format.ts'
import { t } from '../language/text.ts'
import { computeLabelStep, computeRangeTicks } from './chart-scale.ts'
import classes from './usage-chart.module.css'

export type Bar = { key: string; name: string; value: number }
type Measure = 'tokens' | 'requests' | 'cost'

const NAMES: Record<Measure, string> = {
  tokens: t('Tokens'),
  requests: t('Requests'),
  cost: t('Cost'),
}

export function UsageChart({ bars, measure }: { bars: Bar[]; measure: Measure }) {
  const format = measure === 'cost' ? formatDollars : formatCount
  return (
    <BarChart
      bars={bars}
      label={describeChart(bars, measure, format)}
      format={format}
      formatTick={measure === 'cost' ? formatDollars : formatCompact}
    />
  )
}

type BarChartProps = {
  bars: Bar[]
  /** For screen readers. */
  label: string
  format: (value: number) => string
  formatTick: (value: number) => string
  /** In pixels. */
  height?: number
}

const MARGIN = { left: 64, top: 12, bottom: 28 }
const BAR_WIDTH_MAX = 56
const CHARACTER_WIDTH = 8

/**
 * Bar chart with a tooltip on each column. Screen readers get its label; a table has the same
 * numbers.
 */
export function BarChart({ bars, label, format, formatTick, height = 320 }: BarChartProps) {
  const { ref, width } = useElementSize()
  const values = bars.map(({ value }) => value)
  const ticks = computeRangeTicks(Math.min(0, ...values), Math.max(0, ...values))
  const [bottom = 0, top = 1] = [ticks[0], ticks.at(-1)]
  const plotHeight = height - MARGIN.top - MARGIN.bottom
  const computeY = (value: number) =>
    MARGIN.top + plotHeight * (1 - (value - bottom) / (top - bottom))
  const columnWidth = Math.max(0, width - MARGIN.left) / Math.max(1, bars.length)
  const barWidth = Math.min(BAR_WIDTH_MAX, columnWidth * 0.8)
  const nameLength = Math.max(5, ...bars.map(({ name }) => Math.min(24, name.length))) + 1
  const labelStep = computeLabelStep(
    bars.length,
    Math.floor((width - MARGIN.left) / (nameLength * CHARACTER_WIDTH)),
  )
  return (
    <figure style={{ margin: 0 }} aria-label={label}>
      <div ref={ref}>
        <svg
          className={classes.chart}
          aria-hidden
          height={height}
          viewBox={`0 0 ${width || 1} ${height}`}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line
                className={classes.grid}
                x1={MARGIN.left}
                x2={width}
                y1={computeY(tick)}
                y2={computeY(tick)}
              />
              <text
                className={classes.label}
                x={MARGIN.left - 8}
                y={computeY(tick) + 4}
                textAnchor="end"
              >
                {formatTick(tick)}
              </text>
            </g>
          ))}
          {bars.map(({ key, name, value }, index) => (
            <g
              key={key}
              className={classes.column}
              transform={`translate(${MARGIN.left + index * columnWidth} 0)`}
            >
              <title>{`${name}: ${format(value)}`}</title>
              <rect width={columnWidth} y={MARGIN.top} height={plotHeight} fill="transparent" />
              <rect
                className={classes.bar}
                x={(columnWidth - barWidth) / 2}
                width={barWidth}
                y={computeY(Math.max(0, value))}
                height={Math.abs(computeY(value) - computeY(0))}
                rx={Math.min(4, barWidth / 4)}
              />
              {index % labelStep === 0 && (
                <text
                  className={classes.label}
                  x={columnWidth / 2}
                  y={height - 8}
                  textAnchor="middle"
                >
                  {name.length > 24 ? `${name.slice(0, 23)}…` : name}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
    </figure>
  )
}

function describeChart(bars: Bar[], measure: Measure, format: (value: number) => string): string {
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  const highest = bars.toSorted((a, b) => b.value - a.value)[0]
  const peak = highest ? t(', highest {0} with {1}', highest.name, format(highest.value)) : ''
  return t(
    '{0}: {1} in total{2}. The table view has every number.',
    NAMES[measure],
    format(total),
    peak,
  )
}
