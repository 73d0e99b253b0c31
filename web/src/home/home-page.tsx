import { Container, Group, SimpleGrid, Skeleton, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/queries.ts'
import { featuredPlan } from '../billing/plans.ts'
import { useFullPlan } from '../billing/use-plans.ts'
import { BRAND } from '../components/brand.ts'
import { LinkButton } from '../components/links.tsx'
import { useTitle } from '../components/title.ts'
import { t } from '../language/text.ts'
import { PlanCard } from '../pricing/plan-card.tsx'
import { Features } from './features.tsx'
import { Hero } from './hero.tsx'
import classes from './steps.module.css'

export function HomePage() {
  useTitle(BRAND)
  return (
    <>
      <Hero />
      <Container size={1160}>
        <Features />
        <Steps />
        <PlansTeaser />
      </Container>
    </>
  )
}

/** Plans in short. The home page must work while billing is down, so a failure hides them. */
function PlansTeaser() {
  const plans = useQuery(plansQuery)
  const fullPlan = useFullPlan()
  return (
    <section aria-labelledby="plans" style={{ paddingBlock: 'clamp(3rem, 7vw, 5.5rem)' }}>
      <Group justify="space-between" align="flex-end" mb="lg">
        <div>
          <Title order={2} id="plans" fz="clamp(1.6rem, 3vw, 2.1rem)">
            {t('Plans')}
          </Title>
          <Text c="dimmed" mt={4}>
            {t('Start for free. API keys are part of {0}.', fullPlan)}
          </Text>
        </div>
        <LinkButton to="/pricing" variant="default">
          {t('Compare plans')}
        </LinkButton>
      </Group>
      {plans.isPending && <Skeleton h={260} radius="lg" />}
      {plans.isSuccess && (
        <SimpleGrid cols={{ base: 1, sm: Math.min(3, plans.data.plans.length) }}>
          {plans.data.plans.map((plan) => (
            <PlanCard
              key={plan.tier}
              plan={plan}
              period="monthly"
              order={3}
              featured={plan === featuredPlan(plans.data.plans)}
            />
          ))}
        </SimpleGrid>
      )}
    </section>
  )
}

const STEPS = [
  [t('Create an account'), t('Sign up with email, Google or GitHub.')],
  [t('Upload a document'), t('PDF, Word, text and more. You can ask about it within moments.')],
  [t('Ask a question'), t('The answer shows the sentence it stands on.')],
  [t('Call the API'), t('Choose a plan, create a key, and use the client you already have.')],
] as const

function Steps() {
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
