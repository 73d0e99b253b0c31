import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { formatCount, formatDuration, formatExactDollars } from '../components/format.ts'
import classes from './playground.module.css'
import type { Run } from './run.ts'

/** Shows the duration, the cost and the error of an ended request. */
export function RunFacts({ run }: { run: Run }) {
  const { problem, reasoning, leftOut } = run
  return (
    <>
      {problem && (
        <Alert
          color="red"
          role="alert"
          icon={<IconAlertTriangle size={20} aria-hidden />}
          title={[problem.status, problem.code].filter(Boolean).join(' · ') || 'No answer'}
        >
          {problem.message}
        </Alert>
      )}
      {reasoning !== '' && (
        <details className={classes.reasoning}>
          <summary>Reasoning</summary>
          <p>{reasoning}</p>
        </details>
      )}
      <dl className={classes.facts} aria-label="Measurements">
        {listFacts(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {leftOut && (
        <p className={classes.leftOut}>
          This model does not support {leftOut.replaceAll(',', ', ')}. The request was sent without.
        </p>
      )}
    </>
  )
}

function listFacts({ phase, firstTokenMs, totalMs, usage, finish, body }: Run) {
  const facts: [name: string, value: string | null][] = [
    ['First token', body.stream && firstTokenMs !== null ? formatDuration(firstTokenMs) : null],
    ['Latency', totalMs === null ? null : formatDuration(totalMs)],
    ['Input', usage && `${formatCount(usage.prompt_tokens)} tokens`],
    ['Output', usage && `${formatCount(usage.completion_tokens)} tokens`],
    ['Cost', usage && formatExactDollars(usage.cost_usd)],
    ['Finish', phase === 'stopped' ? 'stopped by you' : finish],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}
