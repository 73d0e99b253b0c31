import { Anchor, VisuallyHidden } from '@mantine/core'
import {
  type CSSProperties,
  type MouseEvent,
  memo,
  type ReactNode,
  useId,
  useMemo,
  useState,
} from 'react'
import { type Components, Streamdown } from 'streamdown'
import { CopyIcon } from './copy.tsx'
import { hidesTarget, readTarget } from './link-target.ts'
import classes from './markdown.module.css'

type MarkdownProps = { text: string; streaming?: boolean; components?: Components }

/**
 * Renders untrusted Markdown. HTML is dropped, and images become links, because loading one could
 * leak secrets through its address. `components` must be a stable object; otherwise every token
 * renders every block again.
 */
export const Markdown = memo(function Markdown({
  text,
  streaming = false,
  components,
}: MarkdownProps) {
  const id = useId()
  // A streamed answer stays in streaming mode: rendering it again as a whole would take longer
  // than the stream.
  const [hasStreamed, setHasStreamed] = useState(streaming)
  if (streaming && !hasStreamed) setHasStreamed(true)
  const all = useMemo(() => (components ? { ...elements, ...components } : elements), [components])
  // Footnote ids are global to the page, and every answer starts at 1.
  const footnotes = text.includes('[^')
  const options = useMemo(
    () => (footnotes ? { clobberPrefix: `${id}-` } : undefined),
    [footnotes, id],
  )
  return (
    <Streamdown
      className={classes.prose ?? ''}
      mode={hasStreamed ? 'streaming' : 'static'}
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

/** Props of a rendered element. They come from untrusted Markdown, so every value is unknown. */
export type ElementProps = {
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

// Replaces Streamdown's elements, which need its style sheet. `dir="auto"` lets each block find
// its writing direction.
const elements: Components = {
  p: ({ children }: ElementProps) => <p dir="auto">{asNode(children)}</p>,
  strong: ({ children }: ElementProps) => <strong>{asNode(children)}</strong>,
  em: ({ children }: ElementProps) => <em>{asNode(children)}</em>,
  del: ({ children }: ElementProps) => <del>{asNode(children)}</del>,
  sup: ({ children }: ElementProps) => <sup>{asNode(children)}</sup>,
  sub: ({ children }: ElementProps) => <sub>{asNode(children)}</sub>,
  h1: createHeading(1),
  h2: createHeading(2),
  h3: createHeading(3),
  h4: createHeading(4),
  h5: createHeading(5),
  h6: createHeading(6),
  ul: ({ children, className }: ElementProps) => (
    <ul dir="auto" data-tasks={/contains-task-list/.test(`${className}`) || undefined}>
      {asNode(children)}
    </ul>
  ),
  ol: ({ children, start }: ElementProps) => (
    <ol dir="auto" start={typeof start === 'number' ? start : undefined}>
      {asNode(children)}
    </ol>
  ),
  li: ({ children, id }: ElementProps) => (
    <li dir="auto" id={asText(id)} tabIndex={id ? -1 : undefined}>
      {asNode(children)}
    </li>
  ),
  input: ({ checked }: ElementProps) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      readOnly
      aria-label={checked === true ? 'Done' : 'To do'}
    />
  ),
  blockquote: ({ children }: ElementProps) => (
    <blockquote dir="auto">{asNode(children)}</blockquote>
  ),
  hr: () => <hr />,
  a: ({ href, id, children }: ElementProps) => (
    <Link to={href} id={id}>
      {children}
    </Link>
  ),
  img: ({ src, alt }: ElementProps) => (
    <ExternalLink to={src}>
      Image: {typeof alt === 'string' && alt ? alt : 'without a description'}
    </ExternalLink>
  ),
  pre: ({ children }: ElementProps) => <CodeBlock>{children}</CodeBlock>,
  code: ({ children }: ElementProps) => <code>{asNode(children)}</code>,
  table: ({ children }: ElementProps) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <div className={`scroll-x ${classes.table}`} tabIndex={0}>
      <table>{asNode(children)}</table>
    </div>
  ),
  thead: ({ children }: ElementProps) => <thead>{asNode(children)}</thead>,
  tbody: ({ children }: ElementProps) => <tbody>{asNode(children)}</tbody>,
  tr: ({ children }: ElementProps) => <tr>{asNode(children)}</tr>,
  th: ({ children, style }: ElementProps) => (
    <th dir="auto" style={readAlignment(style)}>
      {asNode(children)}
    </th>
  ),
  td: ({ children, style }: ElementProps) => (
    <td dir="auto" style={readAlignment(style)}>
      {asNode(children)}
    </td>
  ),
}

/**
 * Lowers a heading by two levels, below the headings of the page and of the turn. Its style
 * follows the author's level.
 */
function createHeading(level: 1 | 2 | 3 | 4 | 5 | 6) {
  const Tag = (['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const)[level - 1] ?? 'h6'
  return ({ children, id }: ElementProps) =>
    // Footnotes have a visible line, so their heading is for screen readers only.
    /footnote-label$/.test(`${id}`) ? (
      <VisuallyHidden component={Tag} id={asText(id)}>
        Footnotes
      </VisuallyHidden>
    ) : (
      <Tag dir="auto" data-level={level}>
        {asNode(children)}
      </Tag>
    )
}

/** Footnote links stay inside the answer; all others leave the app. */
export function Link({ to, id, children }: { to: unknown; id: unknown; children: unknown }) {
  if (typeof to !== 'string' || !to.startsWith('#'))
    return <ExternalLink to={to}>{children}</ExternalLink>
  const go = (event: MouseEvent) => {
    event.preventDefault()
    const target = document.getElementById(decodeFragment(to.slice(1)))
    target?.focus({ preventScroll: true })
    target?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Anchor href={to} id={asText(id)} onClick={go} underline="always" inherit>
      {asNode(children)}
    </Anchor>
  )
}

/** Opens in a new tab without a referrer. Shows its target unless the text does. */
function ExternalLink({ to, children }: { to: unknown; children: unknown }) {
  const target = readTarget(to)
  return (
    <Anchor
      href={typeof to === 'string' ? to : undefined}
      title={target}
      target="_blank"
      rel="noopener noreferrer nofollow"
      underline="always"
      inherit
    >
      {asNode(children)}
      {target !== undefined && hidesTarget(readText(children), target) && <bdi> ({target})</bdi>}
    </Anchor>
  )
}

function CodeBlock({ children }: { children: unknown }) {
  const language = readLanguage(children)
  return (
    <div className={classes.code} dir="ltr">
      <div className={classes.bar}>
        <span>{language || 'code'}</span>
        <CopyIcon value={readText(children)} what="code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0}>{asNode(children)}</pre>
    </div>
  )
}

/** Returns the language of a code block from the class `language-ts` of its `code` element. */
function readLanguage(code: unknown): string {
  if (typeof code !== 'object' || code === null || !('props' in code)) return ''
  const { className } = code.props as { className?: unknown }
  return /(?:^|\s)language-(\S+)/.exec(typeof className === 'string' ? className : '')?.[1] ?? ''
}

/** Returns the plain text of rendered nodes. */
function readText(node: unknown): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(readText).join('')
  if (typeof node === 'object' && node !== null && 'props' in node) {
    return readText((node.props as { children?: unknown }).children)
  }
  return ''
}

/** Returns the only style that table cells may set: the alignment. */
function readAlignment(style: unknown): CSSProperties | undefined {
  const side =
    typeof style === 'object' && style !== null && 'textAlign' in style
      ? style.textAlign
      : undefined
  return side === 'left' || side === 'center' || side === 'right' ? { textAlign: side } : undefined
}

function asNode(children: unknown): ReactNode {
  return children as ReactNode
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A model may write any characters after the `#`.
    return fragment
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
