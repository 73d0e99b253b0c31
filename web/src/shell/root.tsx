import { IconWifiOff } from '@tabler/icons-react'
import { onlineManager } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { lazyPart } from '../components/lazy-part.ts'
import classes from '../components/offline.module.css'
import { t } from '../language/text.ts'
import { useBooted } from './booted.ts'
import { onPaletteOpen } from './palette-events.ts'

const Palette = lazyPart(() => import('./palette/palette.tsx'), 'Palette')

/** Skip link, command palette (loaded when first opened) and offline bar of every page. */
export function Root() {
  useBooted()
  const [isOpen, setIsOpen] = useState(false)
  const open = useCallback(() => setIsOpen(true), [])
  useEffect(() => onPaletteOpen(open), [open])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [open])

  return (
    <>
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      <Outlet />
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
      <OfflineBar />
    </>
  )
}

/** Shown while the browser is offline. The page stays readable. */
function OfflineBar() {
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
