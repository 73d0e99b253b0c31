import { Text, Title } from '@mantine/core'
import classes from './steps.module.css'

const STEPS = [
  ['Create an account', 'Sign up with email, Google or GitHub.'],
  ['Upload a document', 'PDF, Word, text and more. You can ask about it within moments.'],
  ['Ask a question', 'The answer shows the sentence it stands on.'],
  ['Call the API', 'Choose a plan, create a key, and use the client you already have.'],
] as const

export function Steps() {
  return (
    <section aria-labelledby="steps" className={classes.section}>
      <Title order={2} id="steps" className={classes.title}>
        How it works
      </Title>
      <ol className={classes.steps}>
        {STEPS.map(([title, text]) => (
          <li key={title}>
            <Title order={3}>{title}</Title>
            <Text c="dimmed" mt={4}>
              {text}
            </Text>
          </li>
        ))}
      </ol>
    </section>
  )
}
