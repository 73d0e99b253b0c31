import type { ReactNode } from 'react'

/** Box that scrolls sideways. Focusable, so that the keyboard can scroll it. */
export function ScrollX({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <section className="scroll-x" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
