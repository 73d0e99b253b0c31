import { formatUtcDay } from '../components/format.ts'
import { t } from '../language/text.ts'

/** Returns the label of a group of calls. `keys` holds the names of existing API keys by id. */
export function formatGroupName(
  groupedBy: string,
  key: string,
  keys: ReadonlyMap<string, string>,
): string {
  if (groupedBy === 'day') return formatUtcDay(key)
  if (groupedBy === 'key')
    return key === 'session' ? t('This app') : (keys.get(key) ?? `${key.slice(0, 8)}…`)
  // The built-in index compares words without a model, at no cost.
  if (groupedBy === 'model' && /^(local\/)?lexical-\d/.test(key)) return t('Word search, no model')
  if (groupedBy === 'end_user') return key === '' ? t('No end user') : key
  if (groupedBy === 'outcome') return OUTCOMES[key] ?? key
  return key === '' ? t('No model') : key
}

const OUTCOMES: Record<string, string> = {
  ok: 'OK',
  failed: t('Failed'),
  cancelled: t('Cancelled|call'),
}
