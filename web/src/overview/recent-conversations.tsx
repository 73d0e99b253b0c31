import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatAge } from '../components/format.ts'
import { Failure } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { Panel, Rows } from './panel.tsx'
import { recentConversationsQuery } from './queries.ts'
import classes from './row.module.css'

const SHOWN = 6

export function RecentConversations() {
  const recent = useQuery(recentConversationsQuery)
  return (
    <Panel title={t('Recent conversations')} aside={<Link to="/home">{t('New chat')}</Link>}>
      {recent.isError ? (
        <Failure problem={recent.error} retry={() => void recent.refetch()} />
      ) : (
        <Rows
          rows={recent.data?.conversations.slice(0, SHOWN)}
          none={t('No conversations yet. Ask a model something, or your files.')}
        >
          {({ id, title, updated_at }) => (
            <li key={id}>
              <Link to="/c/$id" params={{ id }} className={classes.row}>
                <span dir="auto">{title || t('New conversation')}</span>
                <span>{formatAge(updated_at)}</span>
              </Link>
            </li>
          )}
        </Rows>
      )}
    </Panel>
  )
}
