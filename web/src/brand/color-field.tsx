import { TextInput } from '@mantine/core'
import { t } from '../language/text.ts'
import classes from './brand.module.css'

type ColorFieldProps = {
  label: string
  description?: string
  /** The color of an empty field. */
  fallback: string
  value: string
  onChange: (value: string) => void
  error?: string | undefined
}

/** A hexadecimal color, typed or chosen. */
export function ColorField({ label, fallback, value, onChange, ...shown }: ColorFieldProps) {
  const isColor = /^#[0-9a-f]{6}$/i.test(value)
  return (
    <TextInput
      label={label}
      placeholder={fallback}
      maxLength={7}
      dir="ltr"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={
        <input
          type="color"
          className={classes.color}
          aria-label={t('Choose: {0}', label)}
          value={isColor ? value : fallback}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      }
      {...shown}
    />
  )
}
