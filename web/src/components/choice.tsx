import classes from './choice.module.css'

type ChoiceProps<T extends string> = {
  label: string
  value: T
  choices: { value: T; label: string }[]
  onChange: (value: T) => void
}

/** A few choices beside each other, of which one is on. */
export function Choice<T extends string>({ label, value, choices, onChange }: ChoiceProps<T>) {
  return (
    <div role="radiogroup" aria-label={label} className={classes.choice}>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={label}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </div>
  )
}
