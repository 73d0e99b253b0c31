import { Text, Title } from '@mantine/core'
import classes from './steps.module.css'

const STEPS = [
  ['Create an account', 'With an email address, Google, GitHub or, later, a passkey.'],
  ['Take a plan', 'It opens chat, documents and keys. Cancel whenever you like.'],
  ['Bring a document', 'Drop a file. It is searchable when the upload says done.'],
  ['Ask, or call the API', 'In the browser, or with a key and the client you already use.'],
] as const

export function Steps() {
  return (
    <section aria-labelledby="steps" className={classes.section}>
      <Title order={2} id="steps" className={classes.title}>
        From the front door to the first answer
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
