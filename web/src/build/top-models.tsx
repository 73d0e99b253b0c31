import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatDollars, plural } from '../components/format.ts'
import { t } from '../language/text.ts'
import { Panel, Rows } from '../overview/panel.tsx'
import classes from '../overview/row.module.css'
import { formatGroupName } from '../usage/group-name.ts'
import { usageQuery } from '../usage/usage-query.ts'
import { DAYS } from './queries.ts'

const SHOWN = 5

/** The models that cost most. */
export function TopModels() {
  const { data } = useQuery(usageQuery(DAYS, 'model'))
  return (
    <Panel title={t('Top models')} aside={<Link to="/models">{t('All models')}</Link>}>
      <Rows rows={data?.groups.slice(0, SHOWN)} none={t('No calls yet.')}>
        {({ key, requests, cost_usd }) => (
          <li key={key}>
            <Link to="/calls" search={{ model: key }} className={classes.row}>
              <span>{formatGroupName('model', key, new Map())}</span>
              <span>
                {plural(requests, 'call')} · {formatDollars(cost_usd)}
              </span>
            </Link>
          </li>
        )}
      </Rows>
    </Panel>
  )
}
