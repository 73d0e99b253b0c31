import { Box, Container, Group, Text, Title } from '@mantine/core'
import { useFreeTry, useFullPlan } from '../billing/use-plans.ts'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'
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
            {t('One key to your models and your documents')}
          </Title>
          <Text className={classes.lead}>
            {t(
              'Chat with the models of several vendors, ask your own documents and see the source of every answer, and build with an OpenAI-compatible API.',
            )}
          </Text>
          <Group gap="sm" mt="xl">
            {signedIn ? (
              <LinkButton to="/home" size="lg" className={classes.call}>
                {t('Open the app')}
              </LinkButton>
            ) : (
              <LinkButton to="/register" size="lg" className={classes.call}>
                {t('Create an account')}
              </LinkButton>
            )}
            <LinkButton to="/pricing" size="lg" className={classes.quiet}>
              {t('See plans')}
            </LinkButton>
          </Group>
          <Text size="sm" mt="md" className={classes.small}>
            {t(
              '{0}API keys are part of {1}.',
              isFreeToTry
                ? t('Try chat and documents for free, no card needed. ')
                : t('No card needed. '),
              fullPlan,
            )}
          </Text>
        </div>
        <ExampleAnswer />
      </Container>
    </Box>
  )
}
