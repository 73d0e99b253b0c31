import { createContext, type ReactNode, use, useMemo, useState } from 'react'
import { flattenTables } from '../../documents/table-text.ts'
import { t } from '../../language/text.ts'
import type { Cited } from '../citations.ts'
import { nameSource } from '../live/turns.ts'
import classes from './peek.module.css'

type Peeked = { cited: Cited; mark: DOMRect }
type Peek = { show: (cited: Cited, mark: DOMRect) => void; hide: () => void }

export const PEEK_ID = 'cited-sentence'
const PeekContext = createContext<Peek>({ show: () => undefined, hide: () => undefined })
export const usePeek = () => use(PeekContext)

const WIDTH_PX = 380
const GAP_PX = 8
const SHORT = 320

/** Shows the cited sentence while a mark is hovered or focused. */
export function PeekProvider({ children }: { children: ReactNode }) {
  const [peeked, setPeeked] = useState<Peeked | null>(null)
  const peek = useMemo<Peek>(
    () => ({ show: (cited, mark) => setPeeked({ cited, mark }), hide: () => setPeeked(null) }),
    [],
  )
  return (
    <PeekContext value={peek}>
      {children}
      {peeked && <Card {...peeked} />}
    </PeekContext>
  )
}

function Card({ cited: { source, quote }, mark }: Peeked) {
  const left = Math.max(GAP_PX, Math.min(mark.left - 24, innerWidth - WIDTH_PX - GAP_PX))
  const isAbove = mark.top > 180
  const page = quote?.page ?? source.page
  const text = flattenTables((quote?.text ?? source.content).trim())
  return (
    <div
      id={PEEK_ID}
      role="tooltip"
      className={classes.card}
      style={{
        left,
        width: `min(${WIDTH_PX}px, 100vw - ${2 * GAP_PX}px)`,
        ...(isAbove ? { bottom: innerHeight - mark.top + GAP_PX } : { top: mark.bottom + GAP_PX }),
      }}
    >
      <p className={classes.text} dir="auto">
        {text.length > SHORT ? `${text.slice(0, SHORT)}…` : text}
      </p>
      <p className={classes.place}>
        {nameSource(source)}
        {page !== null && t(' · page {0}', page)}
      </p>
    </div>
  )
}
