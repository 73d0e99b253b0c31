import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { describeFailure } from '../calls/failure-sentence.ts'
import { formatAge } from '../components/format.ts'
import { Failure } from '../components/notice.tsx'
import { listDays } from '../usage/days.ts'
import { Panel, Rows } from './panel.tsx'
import classes from './row.module.css'

const DAYS = 7
const SHOWN = 5

/** What failed lately, and what to do about it. */
export function Failures() {
  const failed = useQuery({
    queryKey: ['calls', 'failed'],
    queryFn: ({ signal }) => {
      const days = listDays(new Date(), DAYS)
      const query = { from: days[0], to: days.at(-1), outcome: 'failed' as const, limit: SHOWN }
      return api.get('/api/usage/calls', { query, signal })
    },
  })
  return (
    <Panel
      title="Failed calls, last 7 days"
      aside={
        <Link to="/calls" search={{ outcome: 'failed' }}>
          View calls
        </Link>
      }
    >
      {failed.isError ? (
        <Failure problem={failed.error} retry={() => void failed.refetch()} />
      ) : (
        <Rows rows={failed.data?.calls} none="No call failed.">
          {({ id, at, model, error_code, error_detail }) => (
            <li key={id} className={classes.failure}>
              <span className={classes.row}>
                <span>{model}</span>
                <span>{formatAge(at)}</span>
              </span>
              {error_code && (
                <p className={classes.reason}>
                  {describeFailure(error_code) ?? error_detail ?? error_code}
                </p>
              )}
            </li>
          )}
        </Rows>
      )}
    </Panel>
  )
}
