import { Text, Title } from '@mantine/core'
import { t } from '../language/text.ts'
import classes from './steps.module.css'

const STEPS = [
  [t('Create an account'), t('Sign up with email, Google or GitHub.')],
  [t('Upload a document'), t('PDF, Word, text and more. You can ask about it within moments.')],
  [t('Ask a question'), t('The answer shows the sentence it stands on.')],
  [t('Call the API'), t('Choose a plan, create a key, and use the client you already have.')],
] as const

export function Steps() {
  return (
    <section aria-labelledby="steps" className={classes.section}>
      <Title order={2} id="steps" className={classes.title}>
        {t('How it works')}
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
