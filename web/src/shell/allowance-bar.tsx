import { IconGauge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatDollars } from '../components/format.ts'
import { t } from '../language/text.ts'
import { useRenewal } from '../usage/renewal.ts'
import { allowanceQuery } from '../usage/usage-query.ts'
import classes from './bar.module.css'

const KEY = 'allowance-bar'

/** Warns when most or all of the allowance is used. Each warning can be dismissed. */
export function AllowanceBar() {
  const { data } = useQuery({ ...allowanceQuery, staleTime: 60_000 })
  const renewal = useRenewal(data?.renews_at ?? null)
  const [dismissed, setDismissed] = useState(readDismissed)
  const percent = data?.alerts.at(-1)?.percent
  if (data?.limit_usd == null || percent === undefined) return null
  const name = `${data.period_start} ${data.limit_usd} ${percent}`
  // Hide warnings of a smaller plan after an upgrade.
  if (dismissed === name || data.used_usd < data.limit_usd * 0.8) return null
  return (
    <section aria-label={t('Your allowance')} className={classes.bar}>
      <IconGauge size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <div role="status" className={classes.words}>
        {percent === 100
          ? t('Your allowance is used up, so paid calls are rejected. It {0}.', renewal)
          : t(
              'You have used {0} of {1} in this period.',
              formatDollars(data.used_usd),
              formatDollars(data.limit_usd),
            )}
      </div>
      <div>
        <Link to="/usage">{t('See usage')}</Link>
        <button type="button" onClick={() => setDismissed(saveDismissed(name))}>
          {t('Dismiss')}
        </button>
      </div>
    </section>
  )
}

function readDismissed(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    // Private windows may have no storage.
    return ''
  }
}

function saveDismissed(name: string): string {
  try {
    localStorage.setItem(KEY, name)
  } catch {
    // The warning comes back with the next visit.
  }
  return name
}
