import { ActionIcon, Alert, Button, Textarea } from '@mantine/core'
import { IconAlertTriangle, IconPlayerStop, IconSend, IconX } from '@tabler/icons-react'
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react'
import { formatCount, formatDuration, formatExactDollars } from '../components/format.ts'
import { t } from '../language/text.ts'
import { Markdown } from '../markdown/markdown.tsx'
import classes from './playground.module.css'
import type { Message } from './request.ts'
import type { Run } from './run.ts'
import type { Playground } from './use-playground.ts'

const ROLES = { user: t('User'), assistant: t('Assistant') }

type ThreadProps = {
  playground: Playground
  /** Each restart focuses the field. */
  restarts: number
}

/** The messages, the answer as it comes, and the field for the next message. */
export function Thread({ playground, restarts }: ThreadProps) {
  const { messages, remove, run, isRunning } = playground
  return (
    <>
      {messages.length > 0 && (
        <ol className={classes.thread}>
          {messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other name.
            <li key={index}>
              <Turn message={message} onRemove={isRunning ? null : () => remove(index)} />
            </li>
          ))}
          {isRunning && (
            <li aria-busy="true">
              <Turn message={{ role: 'assistant', content: run?.text ?? '' }} isGrowing />
            </li>
          )}
        </ol>
      )}
      {run && !isRunning && <RunFacts run={run} />}
      <Composer playground={playground} restarts={restarts} />
    </>
  )
}

type TurnProps = { message: Message; isGrowing?: boolean; onRemove?: (() => void) | null }

function Turn({ message: { role, content }, isGrowing = false, onRemove = null }: TurnProps) {
  return (
    <article className={classes.turn} data-role={role} aria-label={ROLES[role]}>
      <div className={classes.role}>
        <span>{ROLES[role]}</span>
        {onRemove && (
          <ActionIcon onClick={onRemove} aria-label={t('Remove this {0} message', role)}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        )}
      </div>
      {role === 'user' ? (
        <p className={classes.words}>{content}</p>
      ) : content === '' ? (
        <p className={classes.waiting}>{t('Waiting for the first token…')}</p>
      ) : (
        <Markdown text={content} streaming={isGrowing} />
      )}
    </article>
  )
}

function Composer({ playground, restarts }: ThreadProps) {
  const { draft, setDraft, canSend, isRunning, send, stop } = playground
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (restarts > 0) field.current?.focus()
  }, [restarts])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (canSend) void send()
    field.current?.focus()
  }
  const sendByKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    submit(event)
  }
  return (
    <form onSubmit={submit} className={classes.composer}>
      <Textarea
        ref={field}
        label={t('Message')}
        autosize
        minRows={3}
        maxRows={14}
        value={draft}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={sendByKey}
      />
      <div className={classes.send}>
        <span>
          {t('{0} + Enter sends', /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : t('Ctrl'))}
        </span>
        {isRunning ? (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={18} aria-hidden />}
            onClick={stop}
          >
            {t('Stop')}
          </Button>
        ) : (
          <Button
            type="submit"
            disabled={!canSend}
            leftSection={<IconSend size={18} aria-hidden />}
          >
            {canSend && draft.trim() === '' ? t('Send again') : t('Send')}
          </Button>
        )}
      </div>
    </form>
  )
}

/** Shows the duration, the cost and the error of an ended request. */
function RunFacts({ run }: { run: Run }) {
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
