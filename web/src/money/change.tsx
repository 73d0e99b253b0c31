import type { MetricTotal } from '../api/types.ts'
import { formatChange, isImprovement } from './metric-words.ts'
import classes from './money.module.css'

type ChangeProps = { line: MetricTotal; before: number | null }

/** The change since the span before, in the color of good or bad news. */
export function Change({ line, before }: ChangeProps) {
  const isBetter = isImprovement(line.name, line.value, before)
  const color = isBetter === null ? undefined : isBetter ? classes.good : classes.bad
  return <span className={color}>{formatChange(line, line.value, before) ?? '–'}</span>
}
