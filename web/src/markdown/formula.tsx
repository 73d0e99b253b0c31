import katex from 'katex'
import 'katex/dist/katex.min.css'
import { useLayoutEffect, useRef, useState } from 'react'

/** Limits against TeX that grows without end, or over the page. */
const LIMITS = { maxExpand: 500, maxSize: 20 }

type FormulaProps = { tex: string; isDisplay: boolean }

/** KaTeX writes elements, not HTML. Without `trust`, it makes no links and loads nothing. */
export function Formula({ tex, isDisplay }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null)
  const [hasFailed, setHasFailed] = useState(false)
  useLayoutEffect(() => {
    if (!place.current) return
    try {
      katex.render(tex, place.current, { displayMode: isDisplay, strict: 'ignore', ...LIMITS })
      setHasFailed(false)
    } catch {
      // A model may write any TeX: the reader gets its source.
      setHasFailed(true)
    }
  }, [tex, isDisplay])
  return (
    <>
      <span ref={place} hidden={hasFailed} />
      {hasFailed && <code>{tex}</code>}
    </>
  )
}
