import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatAge, formatCount } from '../components/format.ts'
import { Failure } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { recentFilesQuery } from '../library/files-query.ts'
import { Panel, Rows } from './panel.tsx'
import classes from './row.module.css'

export function RecentFiles() {
  const recent = useQuery(recentFilesQuery)
  const total = recent.data?.total ?? 0
  return (
    <Panel
      title={t('Files')}
      aside={
        <Link to="/library">{total > 0 ? t('All {0}', formatCount(total)) : t('Upload')}</Link>
      }
    >
      {recent.isError ? (
        <Failure problem={recent.error} retry={() => void recent.refetch()} />
      ) : (
        <Rows rows={recent.data?.files} none={t('No files yet. Upload one to search it.')}>
          {({ id, source, created_at }) => (
            <li key={id}>
              <Link to="/library/$id" params={{ id }} className={classes.row}>
                <span dir="auto">{source ?? t('Pasted text')}</span>
                <span>{formatAge(created_at)}</span>
              </Link>
            </li>
          )}
        </Rows>
      )}
    </Panel>
  )
}
