import { Anchor } from '@mantine/core'
import type { MouseEvent, ReactNode } from 'react'
import { hidesTarget, readTarget } from '../components/link-target.ts'

type LinkProps = { to: string; text: string; children: ReactNode }

/**
 * Links of an answer open in a new tab without a referrer. A link shows its target unless its text
 * does. Addresses that a browser would run, and fragments, are plain text.
 */
export function Link({ to, text, children }: LinkProps) {
  if (!isOpenable(to)) return <>{children}</>
  const target = readTarget(to)
  return (
    <Anchor
      href={to}
      title={target}
      target="_blank"
      rel="noopener noreferrer nofollow"
      underline="always"
      inherit
    >
      {children}
      {target !== undefined && hidesTarget(text, target) && <bdi> ({target})</bdi>}
    </Anchor>
  )
}

/** A link to a footnote and back. It moves the focus and leaves the address as it is. */
export function NoteLink({ to, id, label, children }: NoteLinkProps) {
  const go = (event: MouseEvent) => {
    event.preventDefault()
    const target = document.getElementById(to)
    target?.focus({ preventScroll: true })
    target?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Anchor href={`#${to}`} id={id} aria-label={label} onClick={go} underline="always" inherit>
      {children}
    </Anchor>
  )
}

type NoteLinkProps = { to: string; id?: string; label?: string; children: ReactNode }

function isOpenable(to: string): boolean {
  if (to.startsWith('#')) return false
  const url = URL.parse(to, location.href)
  return url !== null && ['http:', 'https:', 'mailto:', 'tel:'].includes(url.protocol)
}
