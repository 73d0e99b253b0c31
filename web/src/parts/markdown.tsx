import { Anchor, VisuallyHidden } from '@mantine/core'
import { type CSSProperties, type MouseEvent, memo, type ReactNode, useId, useMemo, useState } from 'react'
import { type Components, Streamdown } from 'streamdown'
import { CopyIcon } from './copy.tsx'
import { namesOther, targetOf } from './link-target.ts'
import classes from './markdown.module.css'

type MarkdownProps = { text: string; streaming?: boolean; components?: Components }

/**
 * What a model wrote. It is a stranger's text: HTML in it is dropped, and images are shown as links, because fetching a
 * picture from an address that the text made up is a way to carry secrets out. Half-written Markdown is repaired while it
 * streams. `components` must be the same object from one drawing to the next, else every block is drawn anew with each token.
 */
export const Markdown = memo(function Markdown({ text, streaming = false, components }: MarkdownProps) {
  const id = useId()
  // An answer that has been written before the reader's eyes stays in the blocks that it grew in: to draw it anew as one, at
  // its end, would take longer than all that came before.
  const [grown, setGrown] = useState(streaming)
  if (streaming && !grown) setGrown(true)
  const all = useMemo(() => (components ? { ...parts, ...components } : parts), [components])
  // The anchors of footnotes are ids of the whole page, and every answer numbers its own from 1.
  const footnotes = text.includes('[^')
  const options = useMemo(() => (footnotes ? { clobberPrefix: `${id}-` } : undefined), [footnotes, id])
  return (
    <Streamdown
      className={classes.prose ?? ''}
      mode={grown ? 'streaming' : 'static'}
      isAnimating={streaming}
      parseIncompleteMarkdown={streaming}
      components={all}
      {...(options && { remarkRehypeOptions: options })}
      controls={false}
      skipHtml
    >
      {text}
    </Streamdown>
  )
})

/** What a drawn element may get. It comes from parsed Markdown, so nothing of it is taken for granted. */
export type PartProps = {
  node?: unknown
  children?: unknown
  id?: unknown
  href?: unknown
  src?: unknown
  alt?: unknown
  start?: unknown
  checked?: unknown
  className?: unknown
  style?: unknown
}

// Streamdown's own elements are dressed in the classes of a style sheet that is not here, so each form is drawn by one of these.
// A text may be in any script: each block finds its own direction.
const parts: Components = {
  p: ({ children }: PartProps) => <p dir="auto">{drawn(children)}</p>,
  strong: ({ children }: PartProps) => <strong>{drawn(children)}</strong>,
  em: ({ children }: PartProps) => <em>{drawn(children)}</em>,
  del: ({ children }: PartProps) => <del>{drawn(children)}</del>,
  sup: ({ children }: PartProps) => <sup>{drawn(children)}</sup>,
  sub: ({ children }: PartProps) => <sub>{drawn(children)}</sub>,
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  ul: ({ children, className }: PartProps) => (
    <ul dir="auto" data-tasks={/contains-task-list/.test(`${className}`) || undefined}>
      {drawn(children)}
    </ul>
  ),
  ol: ({ children, start }: PartProps) => (
    <ol dir="auto" start={typeof start === 'number' ? start : undefined}>
      {drawn(children)}
    </ol>
  ),
  li: ({ children, id }: PartProps) => (
    <li dir="auto" id={asText(id)} tabIndex={id ? -1 : undefined}>
      {drawn(children)}
    </li>
  ),
  input: ({ checked }: PartProps) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      readOnly
      aria-label={checked === true ? 'Done' : 'To do'}
    />
  ),
  blockquote: ({ children }: PartProps) => <blockquote dir="auto">{drawn(children)}</blockquote>,
  hr: () => <hr />,
  a: ({ href, id, children }: PartProps) => (
    <Link to={href} id={id}>
      {children}
    </Link>
  ),
  img: ({ src, alt }: PartProps) => (
    <Away to={src}>Image: {typeof alt === 'string' && alt ? alt : 'without a description'}</Away>
  ),
  pre: ({ children }: PartProps) => <CodeFrame>{children}</CodeFrame>,
  code: ({ children }: PartProps) => <code>{drawn(children)}</code>,
  table: ({ children }: PartProps) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <div className={`scroll-x ${classes.table}`} tabIndex={0}>
      <table>{drawn(children)}</table>
    </div>
  ),
  thead: ({ children }: PartProps) => <thead>{drawn(children)}</thead>,
  tbody: ({ children }: PartProps) => <tbody>{drawn(children)}</tbody>,
  tr: ({ children }: PartProps) => <tr>{drawn(children)}</tr>,
  th: ({ children, style }: PartProps) => (
    <th dir="auto" style={alignment(style)}>
      {drawn(children)}
    </th>
  ),
  td: ({ children, style }: PartProps) => (
    <td dir="auto" style={alignment(style)}>
      {drawn(children)}
    </td>
  ),
}

/**
 * A heading inside an answer stands two levels below what its author gave it: the page's own heading is the first level, and
 * what is asked or said the second. Its looks go by the author's level.
 */
function heading(level: 1 | 2 | 3 | 4 | 5 | 6) {
  const Tag = (['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const)[level - 1] ?? 'h6'
  return ({ children, id }: PartProps) =>
    // The heading above an answer's footnotes, whose line says the same to the eye.
    /footnote-label$/.test(`${id}`) ? (
      <VisuallyHidden component={Tag} id={asText(id)}>
        Footnotes
      </VisuallyHidden>
    ) : (
      <Tag dir="auto" data-level={level}>
        {drawn(children)}
      </Tag>
    )
}

/** A mark that leads to a footnote and back stays inside the answer; every other link leaves the app. */
export function Link({ to, id, children }: { to: unknown; id: unknown; children: unknown }) {
  if (typeof to !== 'string' || !to.startsWith('#')) return <Away to={to}>{children}</Away>
  const go = (event: MouseEvent) => {
    event.preventDefault()
    const target = document.getElementById(decoded(to.slice(1)))
    target?.focus({ preventScroll: true })
    target?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Anchor href={to} id={asText(id)} onClick={go} underline="always" inherit>
      {drawn(children)}
    </Anchor>
  )
}

/** A link out of the app, opened beside it and told nothing of it. It says where it leads when its text names another place. */
function Away({ to, children }: { to: unknown; children: unknown }) {
  const target = targetOf(to)
  return (
    <Anchor
      href={typeof to === 'string' ? to : undefined}
      title={target}
      target="_blank"
      rel="noopener noreferrer nofollow"
      underline="always"
      inherit
    >
      {drawn(children)}
      {target !== undefined && namesOther(textOf(children), target) && <bdi> ({target})</bdi>}
    </Anchor>
  )
}

function CodeFrame({ children }: { children: unknown }) {
  const language = languageOf(children)
  return (
    <div className={classes.code} dir="ltr">
      <div className={classes.bar}>
        <span>{language || 'code'}</span>
        <CopyIcon value={textOf(children)} what="code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0}>{drawn(children)}</pre>
    </div>
  )
}

/** What the author called the language of a code block: `language-ts` in the class of the `code` inside. */
function languageOf(code: unknown): string {
  if (typeof code !== 'object' || code === null || !('props' in code)) return ''
  const { className } = code.props as { className?: unknown }
  return /(?:^|\s)language-(\S+)/.exec(typeof className === 'string' ? className : '')?.[1] ?? ''
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

/** The column's alignment is all that a table's cell may bring of style. */
function alignment(style: unknown): CSSProperties | undefined {
  const side = typeof style === 'object' && style !== null && 'textAlign' in style ? style.textAlign : undefined
  return side === 'left' || side === 'center' || side === 'right' ? { textAlign: side } : undefined
}

function drawn(children: unknown): ReactNode {
  return children as ReactNode
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A model may write any sign after the `#`.
    return fragment
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
