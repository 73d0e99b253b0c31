import { Button, Paper, Progress, Skeleton } from '@mantine/core'
import { IconHourglass } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { ApiProblem } from '../api/problem.ts'
import { readQuery } from '../api/queries.ts'
import type { TimeMachine } from '../api/types.ts'
import { Choice } from '../components/choice.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { Stat, StatGrid } from '../components/stat.tsx'
import { locale } from '../language/language.ts'
import { t } from '../language/text.ts'
import { clockKey, clockMover, type MoverState } from './clock-mover.ts'
import { AheadList, PassedList } from './event-lists.tsx'
import { type PassedItem, sumPassed } from './passed.ts'
import type { Span } from './span.ts'
import classes from './time-machine.module.css'

const DAY_MS = 24 * 3_600_000

const MOMENT = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' })

const SPANS: readonly { span: Span; label: string }[] = [
  { span: 'day', label: t('A day on') },
  { span: 'week', label: t('A week on') },
  { span: 'month', label: t('A month on') },
]

const clockQuery = {
  ...readQuery(clockKey, '/api/admin/time-machine'),
  staleTime: 0,
}

export function TimeMachinePage() {
  const clock = useQuery(clockQuery)
  const mover = useSyncExternalStore(clockMover.subscribe, clockMover.read)
  const isFixed = clock.error instanceof ApiProblem && clock.error.code === 'clock_fixed'
  return (
    <Page
      title={t('Time machine')}
      lead={t(
        'Move the clock of this sandbox. Renewals, failed payments and emails happen on the way.',
      )}
      wide
    >
      {isFixed && clock.data === undefined ? (
        <Notice icon={IconHourglass} title={t('Only for sandboxed payments')}>
          {t('This service uses a real payment processor, so its clock cannot be moved.')}
        </Notice>
      ) : (
        <Loaded query={clock} skeleton={<Skeleton h={420} />}>
          {(data) => (
            <div className={classes.columns}>
              <div>
                <ClockPanel clock={data} mover={mover} />
                <Passed mover={mover} />
              </div>
              <section aria-labelledby="ahead">
                <h2 id="ahead" className={classes.heading}>
                  {t('Coming up')}
                </h2>
                <AheadList ahead={data.ahead} />
              </section>
            </div>
          )}
        </Loaded>
      )}
    </Page>
  )
}

function ClockPanel({ clock, mover }: { clock: TimeMachine; mover: MoverState }) {
  const { running, problem } = mover
  const days = Math.round((Date.parse(clock.now) - Date.parse(clock.real_time)) / DAY_MS)
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="clock" className={classes.clock}>
      <h2 id="clock" className={classes.label}>
        {t('Time of the service')}
      </h2>
      <p className={classes.now}>{MOMENT.format(new Date(clock.now))}</p>
      <p className={classes.note}>
        {days === 0 ? t('The same as real time') : t('{0} ahead of real time', plural(days, 'day'))}
      </p>
      <div className={classes.buttons}>
        {SPANS.map(({ span, label }) => (
          <Button
            key={span}
            variant={span === 'month' ? 'filled' : 'default'}
            // A disabled button would lose the focus of the keyboard.
            aria-disabled={running !== null}
            data-disabled={running !== null || undefined}
            onClick={() => void clockMover.move(span)}
          >
            {label}
          </Button>
        ))}
        {running && (
          <Button variant="subtle" onClick={() => clockMover.stop()}>
            {t('Stop')}
          </Button>
        )}
      </div>
      {running && (
        <Progress
          className={classes.progress}
          value={running.share * 100}
          aria-label={t('Progress of the move')}
        />
      )}
      <p role="status" className={classes.note}>
        {running ? t('Moving the clock…') : t('The clock cannot move back.')}
      </p>
      <FormProblem problem={problem} />
    </Paper>
  )
}

type Filter = 'all' | 'money' | 'emails'

const FILTERS: { value: Filter; label: string }[] = [
  { value: 'all', label: t('All') },
  { value: 'money', label: t('Payments') },
  { value: 'emails', label: t('Emails') },
]

function Passed({ mover: { passed, running } }: { mover: MoverState }) {
  const [filter, setFilter] = useState<Filter>('all')
  const sums = sumPassed(passed)
  const fits = ({ kind }: PassedItem) =>
    filter === 'all' || (filter === 'emails') === (kind === 'email')
  const shown = passed.filter(fits).toReversed()
  return (
    <section aria-labelledby="passed" className={classes.passed}>
      <div className={classes.head}>
        <h2 id="passed" className={classes.heading}>
          {t('What happened')}
        </h2>
        {passed.length > 0 && (
          <Choice label={t('Show')} value={filter} choices={FILTERS} onChange={setFilter} />
        )}
      </div>
      {passed.length === 0 ? (
        <p className={classes.note}>
          {running
            ? t('Nothing so far.')
            : t('Nothing yet. Move the clock to see payments, emails and plans that end.')}
        </p>
      ) : (
        <>
          <StatGrid>
            <Stat label={t('Payments')}>{sums.paid}</Stat>
            <Stat label={t('Failed')}>{sums.failed}</Stat>
            <Stat label={t('Emails')}>{sums.emails}</Stat>
            <Stat label={t('Customers')}>{sums.customers}</Stat>
          </StatGrid>
          {shown.length === 0 ? (
            <p className={classes.note}>{t('Nothing of this kind.')}</p>
          ) : (
            <PassedList items={shown} />
          )}
        </>
      )}
    </section>
  )
}
