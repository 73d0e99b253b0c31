import { createElement, Fragment, type ReactNode } from 'react'
import { type Message, translate } from './text.ts'

/** Returns a text with elements in it: `{0}` is the first. */
export function rich(message: Message, ...nodes: readonly ReactNode[]): ReactNode {
  const parts = translate(message).split(/\{(\d)\}/)
  // Every second part is a place.
  const children = parts.map((part, index) => (index % 2 === 0 ? part : nodes[Number(part)]))
  return createElement(Fragment, null, ...children)
}
