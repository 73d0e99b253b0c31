import type { MetricName } from '../api/types.ts'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { linkRows, METRIC_WORDS } from './metric-words.ts'

type RowsLinkProps = {
  name: MetricName
  label: string
  days?: number
  note?: string | null | undefined
}

/** Leads to the rows that a metric counts, after its note. */
export function RowsLink({ name, label, days = 30, note }: RowsLinkProps) {
  return (
    <>
      {note && `${note} · `}
      <TextLink
        {...linkRows(METRIC_WORDS[name].rows, days)}
        size="sm"
        aria-label={t('Details of {0}', label)}
      >
        {t('Details')}
      </TextLink>
    </>
  )
}
