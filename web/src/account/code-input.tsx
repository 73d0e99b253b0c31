import { TextInput, type TextInputProps } from '@mantine/core'

/** Where two-factor is on, a code goes with the password before anything weighty. */
export function CodeInput(props: TextInputProps) {
  return (
    <TextInput
      label="Two-factor code"
      description="From your app, or a recovery code"
      autoComplete="one-time-code"
      spellCheck={false}
      className="numbers"
      {...props}
    />
  )
}
