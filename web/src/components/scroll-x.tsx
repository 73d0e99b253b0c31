import type { ReactNode } from 'react'

/** A box that scrolls sideways when its table is wider. It can be focused, so that the keyboard can scroll it. */
export function ScrollX({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <section className="scroll-x" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
