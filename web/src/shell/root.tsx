import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { OfflineBar } from '../components/offline.tsx'
import { t } from '../language/text.ts'
import { useBooted } from './booted.ts'
import { onPaletteOpen } from './palette-events.ts'

const Palette = lazy(() =>
  import('./palette/palette.tsx').then(({ Palette }) => ({ default: Palette })),
)

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
