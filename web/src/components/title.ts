import { useEffect } from 'react'
import { BRAND } from './brand.ts'

/** Names the tab. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === BRAND ? title : `${title} · ${BRAND}`
  }, [title])
}
