import { TextInput, type TextInputProps } from '@mantine/core'
import { t } from '../language/text.ts'

/** Two-factor code that confirms a sensitive change together with the password. */
export function CodeInput(props: TextInputProps) {
  return (
    <TextInput
      label={t('Two-factor code')}
      description={t('From your authenticator app, or a recovery code')}
      autoComplete="one-time-code"
      spellCheck={false}
      className="numbers"
      {...props}
    />
  )
}
