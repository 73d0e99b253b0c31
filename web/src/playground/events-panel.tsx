import { Text } from '@mantine/core'
import { CopyIcon } from '../components/copy.tsx'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import classes from './playground.module.css'
import type { Run } from './run.ts'

/** The reply as it came over the network. */
export function EventsPanel({ run }: { run: Run | null }) {
  if (run === null) {
    return (
      <Text c="dimmed" size="sm">
        {t('Send a message to see the raw events of its reply.')}
      </Text>
    )
  }
  const { requestId, events, body } = run
  return (
    <>
      {requestId && (
        <div className={classes.request}>
          <Text size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
            {requestId}
          </Text>
          <CopyIcon value={requestId} what={t('request ID')} />
          <TextLink to="/calls" search={{ q: requestId, days: 1 }} size="sm">
            {t('Open in Calls')}
          </TextLink>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <section className={classes.events} tabIndex={0} aria-label={t('Raw events')}>
        {events.length === 0 && <p>{t('No events yet.')}</p>}
        {events.map(({ atMs, data }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only appended.
          <div key={index} className={classes.event}>
            <span>{(atMs / 1_000).toFixed(3)} s</span>
            <code>{body.stream ? data : indentJson(data)}</code>
          </div>
        ))}
      </section>
    </>
  )
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
