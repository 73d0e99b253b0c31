import { useEffect } from 'react'

/** Names the tab. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === 'Latchkey' ? title : `${title} · Latchkey`
  }, [title])
}
