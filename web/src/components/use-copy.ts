import { useEffect, useState } from 'react'

const SHOWN_MS = 1_500

/** Returns whether the text was copied a moment ago, and a function that copies it. */
export function useCopy(read: () => string): [hasCopied: boolean, copy: () => void] {
  const [hasCopied, setHasCopied] = useState(false)
  useEffect(() => {
    if (!hasCopied) return
    const timer = setTimeout(() => setHasCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [hasCopied])
  // Browsers have no clipboard on pages without TLS, and people can forbid it.
  const copy = () =>
    void navigator.clipboard?.writeText(read()).then(
      () => setHasCopied(true),
      () => {},
    )
  return [hasCopied, copy]
}
