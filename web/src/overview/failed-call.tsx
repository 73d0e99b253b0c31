import { Link } from '@tanstack/react-router'
import type { Call } from '../api/types.ts'
import { describeFailure } from '../calls/failure-sentence.ts'
import { formatAge } from '../components/format.ts'
import { t } from '../language/text.ts'
import classes from './row.module.css'

/** One failed call, with its reason. Few users have one, so it loads when needed. */
export function FailedCall({ call }: { call: Call }) {
  const { at, model, request_id, error_code, error_detail } = call
  return (
    <li className={classes.failure}>
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
  )
}
