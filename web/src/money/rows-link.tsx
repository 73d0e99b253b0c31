import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import type { Rows } from './metric-words.ts'

type RowsLinkProps = { rows: Rows; label: string; note?: string | null | undefined }

/** Leads to the rows that a metric counts, after its note. */
export function RowsLink({ rows, label, note }: RowsLinkProps) {
  return (
    <>
      {note && `${note} · `}
      {rows && (
        <TextLink
          to={rows.to}
          search={rows.search}
          size="sm"
          aria-label={t('Details of {0}', label)}
        >
          {t('Details')}
        </TextLink>
      )}
    </>
  )
}
