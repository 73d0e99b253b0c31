import { useHotkeys } from '@mantine/hooks'
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { OfflineBar } from '../parts/offline.tsx'
import { useBooted } from './booted.ts'
import { onPaletteCall } from './palette-call.ts'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))

/** What every page has: the skip link, the palette on ⌘K (loaded when first called) and the word about being offline. */
export function Root() {
  useBooted()
  const [calls, setCalls] = useState(0)
  const call = useCallback(() => setCalls((n) => n + 1), [])
  useHotkeys([['mod+K', call]], [])
  useEffect(() => onPaletteCall(call), [call])

  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Outlet />
      {calls > 0 && (
        <Suspense>
          <Palette calls={calls} />
        </Suspense>
      )}
      <OfflineBar />
    </>
  )
}
