import { IconWifiOff } from '@tabler/icons-react'
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { t } from '../language/text.ts'
import classes from './offline.module.css'

/** Shown while the browser is offline. The page stays readable. */
export function OfflineBar() {
  const online = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  )
  return (
    <div role="status">
      {!online && (
        <div className={classes.bar}>
          <IconWifiOff size={18} aria-hidden />
          <span>{t('You’re offline. Changes won’t be saved.')}</span>
        </div>
      )}
    </div>
  )
}
