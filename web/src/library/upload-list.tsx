import classes from './upload-list.module.css'
import { UploadRow } from './upload-row.tsx'
import type { useUploads } from './uploads.ts'

type UploadListProps = {
  uploads: ReturnType<typeof useUploads>
  replaces: boolean
  onReplaces: (replaces: boolean) => void
}

export function UploadList({ uploads, replaces, onReplaces }: UploadListProps) {
  return (
    <>
      <label className={classes.replace}>
        <input
          type="checkbox"
          checked={replaces}
          onChange={(event) => onReplaces(event.currentTarget.checked)}
        />
        Replace documents with the same name
      </label>
      {uploads.rows.length > 0 && (
        <ul className={classes.list} aria-label="Uploads">
          {uploads.rows.map((row) => (
            <UploadRow
              key={row.id}
              row={row}
              onRetry={() => uploads.retry(row.id)}
              onRemove={() => uploads.remove(row.id)}
            />
          ))}
        </ul>
      )}
    </>
  )
}
