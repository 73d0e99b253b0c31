import { useEffect } from 'react'

/** Takes away what index.html shows until the app stands. */
export function useBooted() {
  useEffect(() => document.getElementById('boot')?.remove(), [])
}
