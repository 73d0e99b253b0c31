import { Box, Container, Group, Text, Title } from '@mantine/core'
import { useFreeTry, useFullPlan } from '../billing/use-plans.ts'
import { LinkButton } from '../components/links.tsx'
import { useHasSession } from '../session/use-session.ts'
import { ExampleAnswer } from './example-answer.tsx'
import classes from './hero.module.css'

export function Hero() {
  const signedIn = useHasSession()
  const fullPlan = useFullPlan()
  const isFreeToTry = useFreeTry()
  return (
    <Box className={classes.band}>
      <Container size={1160} className={classes.columns}>
        <div>
          <Title order={1} className={classes.title}>
            One key to your models and your documents
          </Title>
          <Text className={classes.lead}>
            Chat with the models of several vendors, ask your own documents and see the source of
            every answer, and build with an OpenAI-compatible API.
          </Text>
          <Group gap="sm" mt="xl">
            {signedIn ? (
              <LinkButton to="/home" size="lg" className={classes.call}>
                Open the app
              </LinkButton>
            ) : (
              <LinkButton to="/register" size="lg" className={classes.call}>
                Create an account
              </LinkButton>
            )}
            <LinkButton to="/pricing" size="lg" className={classes.quiet}>
              See plans
            </LinkButton>
          </Group>
          <Text size="sm" mt="md" className={classes.small}>
            {isFreeToTry ? 'Try chat and documents for free, no card needed. ' : 'No card needed. '}
            API keys are part of {fullPlan}.
          </Text>
        </div>
        <ExampleAnswer />
      </Container>
    </Box>
  )
}
