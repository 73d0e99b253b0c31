import { TextInput, type TextInputProps } from '@mantine/core'

/** Two-factor code that confirms a sensitive change together with the password. */
export function CodeInput(props: TextInputProps) {
  return (
    <TextInput
      label="Two-factor code"
      description="From your authenticator app, or a recovery code"
      autoComplete="one-time-code"
      spellCheck={false}
      className="numbers"
      {...props}
    />
  )
}
