import { useEffect } from 'react'
import { BRAND } from './brand.ts'

/** Sets the title of the tab. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === BRAND ? title : `${title} · ${BRAND}`
  }, [title])
}
