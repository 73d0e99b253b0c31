import type { LoggedEmail } from '../api/types.ts'
import { t } from '../language/text.ts'

export const EMAIL_STATES: Record<LoggedEmail['state'], { label: string; color: string }> = {
  sent: { label: t('Sent'), color: 'pine' },
  waiting: { label: t('Waiting'), color: 'brass' },
  failed: { label: t('Failed'), color: 'red' },
}
