import { Paper, Progress, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import classes from './next-steps.module.css'
import type { Step } from './use-steps.ts'

/** Checklist for new users; hidden when complete. */
export function NextSteps({ steps }: { steps: Step[] }) {
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
              <ThemeIcon
                variant={step.done ? 'filled' : 'default'}
                radius="xl"
                size={28}
                aria-hidden
              >
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
