import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { formatCount, formatDuration, formatExactDollars } from '../components/format.ts'
import { t } from '../language/text.ts'
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
          title={[problem.status, problem.code].filter(Boolean).join(' · ') || t('No answer')}
        >
          {problem.message}
        </Alert>
      )}
      {reasoning !== '' && (
        <details className={classes.reasoning}>
          <summary>{t('Reasoning')}</summary>
          <p>{reasoning}</p>
        </details>
      )}
      <dl className={classes.facts} aria-label={t('Measurements')}>
        {listFacts(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {leftOut && (
        <p className={classes.leftOut}>
          {t(
            'This model does not support {0}. The request was sent without.',
            leftOut.replaceAll(',', ', '),
          )}
        </p>
      )}
    </>
  )
}

function listFacts({ phase, firstTokenMs, totalMs, usage, finish, body }: Run) {
  const facts: [name: string, value: string | null][] = [
    [t('First token'), body.stream && firstTokenMs !== null ? formatDuration(firstTokenMs) : null],
    [t('Latency'), totalMs === null ? null : formatDuration(totalMs)],
    [t('Input'), usage && t('{0} tokens', formatCount(usage.prompt_tokens))],
    [t('Output'), usage && t('{0} tokens', formatCount(usage.completion_tokens))],
    [t('Cost'), usage && formatExactDollars(usage.cost_usd)],
    [t('Finish'), phase === 'stopped' ? t('stopped by you') : finish],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}
