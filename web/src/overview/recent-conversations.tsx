import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { formatAge } from '../components/format.ts'
import { Failure } from '../components/notice.tsx'
import { Panel, Rows } from './panel.tsx'
import classes from './row.module.css'

const SHOWN = 6

export function RecentConversations() {
  const recent = useQuery({
    queryKey: ['conversations', 'recent'],
    queryFn: ({ signal }) => api.get('/api/conversations', { signal }),
  })
  return (
    <Panel title="Recent conversations" aside={<Link to="/home">New chat</Link>}>
      {recent.isError ? (
        <Failure problem={recent.error} retry={() => void recent.refetch()} />
      ) : (
        <Rows
          rows={recent.data?.conversations.slice(0, SHOWN)}
          none="No conversations yet. Ask a model something, or your files."
        >
          {({ id, title, updated_at }) => (
            <li key={id}>
              <Link to="/c/$id" params={{ id }} className={classes.row}>
                <span dir="auto">{title}</span>
                <span>{formatAge(updated_at)}</span>
              </Link>
            </li>
          )}
        </Rows>
      )}
    </Panel>
  )
}
