import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Components, Streamdown } from 'streamdown'
import { CopyIcon } from './copy.tsx'
import classes from './markdown.module.css'

/**
 * What a model wrote. It is a stranger's text: HTML in it is dropped, and images are shown as links, because fetching a
 * picture from an address that the text made up is a way to carry secrets out. Half-written Markdown is repaired while it streams.
 */
export function Markdown({ text, streaming = false, components }: MarkdownProps) {
  return (
    <Streamdown
      className={classes.prose ?? ''}
      mode={streaming ? 'streaming' : 'static'}
      components={{ ...parts, ...components }}
      controls={false}
      skipHtml
    >
      {text}
    </Streamdown>
  )
}

type MarkdownProps = { text: string; streaming?: boolean; components?: Components }

/** What a drawn element may get. It comes from parsed Markdown, so nothing of it is taken for granted. */
export type PartProps = { node?: unknown; children?: unknown; href?: unknown; src?: unknown; alt?: unknown }

const parts: Components = {
  a: ({ href, children }: PartProps) => <Away to={href}>{children}</Away>,
  img: ({ src, alt }: PartProps) => (
    <Away to={src}>Image: {typeof alt === 'string' && alt ? alt : 'without a description'}</Away>
  ),
  pre: ({ children }: PartProps) => <CodeFrame>{children}</CodeFrame>,
  code: ({ children }: PartProps) => <code>{children as ReactNode}</code>,
  inlineCode: ({ children }: PartProps) => <code>{children as ReactNode}</code>,
  table: ({ children }: PartProps) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <div className="scroll-x" tabIndex={0}>
      <table>{children as ReactNode}</table>
    </div>
  ),
}

/** A link out of the app, opened beside it and told nothing of it. */
export function Away({ to, children }: { to: unknown; children: unknown }) {
  return (
    <Anchor
      href={typeof to === 'string' ? to : undefined}
      target="_blank"
      rel="noopener noreferrer nofollow"
      underline="always"
      inherit
    >
      {children as ReactNode}
    </Anchor>
  )
}

function CodeFrame({ children }: { children: unknown }) {
  return (
    <div className={classes.code}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0}>{children as ReactNode}</pre>
      <div className={classes.copy}>
        <CopyIcon value={textOf(children)} what="code" />
      </div>
    </div>
  )
}

/** The plain text of drawn nodes. */
function textOf(node: unknown): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  if (typeof node === 'object' && node !== null && 'props' in node) {
    return textOf((node.props as { children?: unknown }).children)
  }
  return ''
}
