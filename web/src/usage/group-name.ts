/** What a group of calls is called. `keys` holds the names of the API keys that are still there, by id. */
export function formatGroupName(
  groupedBy: string,
  key: string,
  keys: ReadonlyMap<string, string>,
): string {
  if (groupedBy === 'key')
    return key === 'session' ? 'This app' : (keys.get(key) ?? `${key.slice(0, 8)}…`)
  // The service's own index compares words: no model is asked, and none is paid.
  if (groupedBy === 'model' && /^(local\/)?lexical-\d/.test(key)) return 'Word search, no model'
  if (groupedBy === 'end_user') return key === '' ? 'Nobody named' : key
  if (groupedBy === 'outcome') return OUTCOMES[key] ?? key
  return key === '' ? 'No model' : key
}

const OUTCOMES: Record<string, string> = {
  ok: 'Answered',
  failed: 'Failed',
  cancelled: 'The caller left',
}
