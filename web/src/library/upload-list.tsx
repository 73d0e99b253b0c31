import { t } from '../language/text.ts'
import classes from './upload-list.module.css'
import { UploadRow } from './upload-row.tsx'
import type { useUploads } from './uploads.ts'

export function UploadList({ uploads }: { uploads: ReturnType<typeof useUploads> }) {
  if (uploads.rows.length === 0) return null
  return (
    <ul className={classes.list} aria-label={t('Uploads')}>
      {uploads.rows.map((row) => (
        <UploadRow
          key={row.id}
          row={row}
          onRetry={() => uploads.retry(row.id)}
          onRemove={() => uploads.remove(row.id)}
        />
      ))}
    </ul>
  )
}
