import { Text, Title } from '@mantine/core'
import classes from './steps.module.css'

const STEPS = [
  ['Create an account', 'Sign up with email, Google or GitHub.'],
  ['Choose a plan', 'Get chat, documents and API keys. Cancel anytime.'],
  ['Upload a document', 'You can search it within moments.'],
  ['Ask, or call the API', 'In the browser, or with an API key and the client you already use.'],
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
