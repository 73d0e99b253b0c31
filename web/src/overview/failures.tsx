import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeFailure } from '../calls/failure-sentence.ts'
import { formatAge } from '../components/format.ts'
import { Failure } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { Panel, Rows } from './panel.tsx'
import { FAILURE_DAYS, recentFailuresQuery } from './queries.ts'
import classes from './row.module.css'

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
          {({ id, at, model, request_id, error_code, error_detail }) => (
            <li key={id} className={classes.failure}>
              <Link to="/calls" search={{ q: request_id ?? undefined }} className={classes.row}>
                <span>{model}</span>
                <span>{formatAge(at)}</span>
              </Link>
              {error_code && (
                <p className={classes.reason}>
                  {describeFailure(error_code) ?? error_detail ?? error_code}{' '}
                  <Link to="/errors" hash={error_code}>
                    {t('About this error')}
                  </Link>
                </p>
              )}
            </li>
          )}
        </Rows>
      )}
    </Panel>
  )
}
