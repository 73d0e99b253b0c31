import classes from './period-choice.module.css'
import type { Period } from './price.ts'

type PeriodChoiceProps = {
  period: Period
  /** The largest fraction that a year saves. */
  saving: number
  onChange: (period: Period) => void
}

export function PeriodChoice({ period, saving, onChange }: PeriodChoiceProps) {
  const choices: { value: Period; label: string }[] = [
    { value: 'monthly', label: 'Monthly' },
    {
      value: 'yearly',
      label: saving > 0 ? `Yearly, save ${Math.round(100 * saving)} %` : 'Yearly',
    },
  ]
  return (
    <div role="radiogroup" aria-label="Billing period" className={classes.choice}>
      {choices.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name="period"
            checked={period === value}
            onChange={() => onChange(value)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  )
}
