import { Paper, Progress, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { keysQuery } from '../api/queries.ts'
import { documentsQuery } from '../documents/documents-query.ts'
import { useUser } from '../session/user.ts'
import classes from './next-steps.module.css'

/** What a newcomer has yet to do. Gone when all of it is done. */
export function NextSteps({ used }: { used: boolean }) {
  const user = useUser()
  const paid = user.subscription_tier !== 'free'
  const documents = useQuery({ ...documentsQuery(1), enabled: paid })
  const keys = useQuery({ ...keysQuery, enabled: paid })

  const steps = [
    {
      done: user.is_verified,
      label: 'Verify your email address',
      hint: 'Open the link that we sent you',
      to: '/account',
    },
    { done: paid, label: 'Take a plan', hint: 'Opens the models, documents and keys', to: '/pricing' },
    {
      done: (documents.data?.total ?? 0) > 0,
      label: 'Bring a document',
      hint: 'PDF, Word or text, or paste some',
      to: '/documents',
    },
    { done: used, label: 'Ask a question', hint: 'And see the passages behind the answer', to: '/ask' },
    { done: (keys.data?.length ?? 0) > 0, label: 'Make an API key', hint: 'For your own programs', to: '/api-keys' },
  ] as const
  const done = steps.filter((step) => step.done).length
  if (done === steps.length) return null

  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="next-steps">
      <Title order={2} fz="h3" id="next-steps">
        Next steps
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        {done} of {steps.length} done
      </Text>
      <Progress
        value={(100 * done) / steps.length}
        mb="sm"
        aria-label={`${done} of ${steps.length} steps done`}
        color="var(--latch-brass)"
        size="sm"
      />
      <ol className={classes.steps}>
        {steps.map((step) => (
          <li key={step.label}>
            <Link to={step.to} className={classes.step} data-done={step.done || undefined}>
              <ThemeIcon variant={step.done ? 'filled' : 'default'} radius="xl" size={28} aria-hidden>
                {step.done && <IconCheck size={16} />}
              </ThemeIcon>
              <span>
                <span className={classes.label}>{step.label}</span>
                {step.done ? (
                  <VisuallyHidden>, done</VisuallyHidden>
                ) : (
                  <span className={classes.hint}>{step.hint}</span>
                )}
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </Paper>
  )
}
