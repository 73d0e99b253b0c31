import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { t } from '../../language/text.ts'
import { keepingQuery } from '../queries.ts'
import classes from './welcome.module.css'

const SettingsDialog = lazy(() =>
  import('../dialogs/settings-dialog.tsx').then(({ SettingsDialog }) => ({
    default: SettingsDialog,
  })),
)

const SEEN_KEY = 'latchkey.privacy-note'

/** Explains where conversations are kept. Shown until it is dismissed. */
export function PrivacyNote() {
  const keeping = useQuery(keepingQuery).data
  const [isSeen, setIsSeen] = useState(() => localStorage.getItem(SEEN_KEY) !== null)
  const [isOpen, setIsOpen] = useState(false)
  if (isSeen || keeping === undefined) return null
  const dismiss = () => {
    localStorage.setItem(SEEN_KEY, 'seen')
    setIsSeen(true)
  }
  return (
    <section className={classes.privacy} aria-label={t('Privacy')}>
      <IconLock size={18} aria-hidden />
      <p>
        {keeping.keeping === 'account'
          ? t(
              'Conversations are kept encrypted in your account, on all your devices, until you delete them.',
            )
          : t('Conversations stay in this browser until you sign out.')}
      </p>
      {keeping.canChange && (
        <button type="button" onClick={() => setIsOpen(true)}>
          {t('Change|verb')}
        </button>
      )}
      <button type="button" onClick={dismiss}>
        {t('OK')}
      </button>
      <Suspense>{isOpen && <SettingsDialog onClose={() => setIsOpen(false)} />}</Suspense>
    </section>
  )
}
