import { useEffect } from 'react'

/** Removes the loading screen of index.html. */
export function useBooted() {
  useEffect(() => document.getElementById('boot')?.remove(), [])
}
