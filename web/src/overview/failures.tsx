import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.ts'
import { Failure } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { Panel, Rows } from './panel.tsx'
import { FAILURE_DAYS, recentFailuresQuery } from './queries.ts'
import classes from './row.module.css'

const FailedCall = lazyPart(() => import('./failed-call.tsx'), 'FailedCall')

/** What failed lately, and what to do about it. */
export function Failures() {
  const failed = useQuery(recentFailuresQuery)
  return (
    <Panel
      title={t('Failed calls, last {0} days', FAILURE_DAYS)}
      aside={
        <Link to="/calls" search={{ outcome: 'failed' }}>
          {t('View calls')}
        </Link>
      }
    >
      {failed.isError ? (
        <Failure problem={failed.error} retry={() => void failed.refetch()} />
      ) : (
        <Rows rows={failed.data?.calls} none={t('No call failed.')}>
          {(call) => (
            <Suspense key={call.id} fallback={<li className={classes.waiting} />}>
              <FailedCall call={call} />
            </Suspense>
          )}
        </Rows>
      )}
    </Panel>
  )
}
