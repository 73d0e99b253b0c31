import type { Token, Tokens } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { t } from '../language/text.ts'
import { CodeBlock } from './code-block.tsx'
import type { CitationToken, MathsToken, NoteMarkToken } from './lexer.ts'
import { Link, NoteLink } from './links.tsx'
import classes from './markdown.module.css'
import { Maths } from './maths.tsx'
import type { Notes } from './notes.tsx'
import { decodeReferences, readText } from './text.ts'

export type RenderCitation = (number: number, ordinal: number) => ReactNode

/** What a block needs of its answer. */
export type Surroundings = {
  notes: Notes
  cite: RenderCitation | undefined
  /** Citations before this block. */
  citations: number
}

/** The page and the turn have the levels above. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const
/** The only HTML that has an effect. */
const TAGS = new Map([
  ['sup', 'sup'],
  ['sub', 'sub'],
  ['kbd', 'kbd'],
] as const)

// `dir="auto"` lets each block find its writing direction. HTML is dropped, and images become links,
// because loading one could leak secrets through its address.
export function renderTokens(tokens: readonly Token[], around: Surroundings): ReactNode {
  const nodes: ReactNode[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const tag = token.type === 'html' ? /^<([a-z]+)>$/i.exec(token.raw)?.[1] : undefined
    const Tag = TAGS.get(tag?.toLowerCase() as 'sup')
    const end = Tag ? tokens.findIndex((one, to) => to > at && one.raw === `</${tag}>`) : -1
    if (Tag && end > 0) {
      nodes.push(<Tag key={at}>{renderTokens(tokens.slice(at + 1, end), around)}</Tag>)
      at = end
    } else nodes.push(<Fragment key={at}>{renderToken(token, around)}</Fragment>)
  }
  return nodes
}

type Renderers = {
  [type: string]: (token: never, inside: () => ReactNode, around: Surroundings) => ReactNode
}

const renderers: Renderers = {
  paragraph: (_: Tokens.Paragraph, inside) => <p dir="auto">{inside()}</p>,
  strong: (_: Tokens.Strong, inside) => <strong>{inside()}</strong>,
  em: (_: Tokens.Em, inside) => <em>{inside()}</em>,
  del: (_: Tokens.Del, inside) => <del>{inside()}</del>,
  heading: ({ depth }: Tokens.Heading, inside) => {
    const Tag = HEADINGS[depth - 1] ?? 'h6'
    return (
      <Tag dir="auto" data-level={depth}>
        {inside()}
      </Tag>
    )
  },
  blockquote: (_: Tokens.Blockquote, inside) => <blockquote dir="auto">{inside()}</blockquote>,
  hr: () => <hr />,
  br: () => <br />,
  text: (token: Tokens.Text, inside) => (token.tokens ? inside() : decodeReferences(token.text)),
  escape: ({ text }: Tokens.Escape) => text,
  codespan: ({ text }: Tokens.Codespan) => <code>{text}</code>,
  code: ({ text, lang }: Tokens.Code) => (
    <CodeBlock code={text} language={/^\S*/.exec(lang ?? '')?.[0] ?? ''} />
  ),
  html: ({ raw }: Tokens.HTML) => (/^<br\s*\/?>$/i.test(raw) ? <br /> : null),
  checkbox: ({ checked }: Tokens.Checkbox) => (
    <input
      type="checkbox"
      checked={checked}
      disabled
      readOnly
      aria-label={checked ? t('Done') : t('To do')}
    />
  ),
  link: (token: Tokens.Link, inside) => (
    <Link to={decodeReferences(token.href)} text={readText(token.tokens)}>
      {inside()}
    </Link>
  ),
  image: ({ href, text }: Tokens.Image) => {
    const label = t('Image: {0}', decodeReferences(text) || t('without a description'))
    return (
      <Link to={decodeReferences(href)} text={label}>
        {label}
      </Link>
    )
  },
  list: (token: Tokens.List, _, around) => <List token={token} around={around} />,
  table: (token: Tokens.Table, _, around) => <Table token={token} around={around} />,
  maths: ({ tex, isDisplay }: MathsToken) => <Maths tex={tex} isDisplay={isDisplay} />,
  'note-mark': ({ raw, label }: NoteMarkToken, _, { notes }) => {
    const note = notes.find(label)
    if (!note) return raw
    return (
      <sup>
        <NoteLink to={note.id} id={note.markId}>
          {note.number}
        </NoteLink>
      </sup>
    )
  },
  citation: ({ raw, numbers, ordinal }: CitationToken, _, { cite, citations }) =>
    cite
      ? numbers.map((number, at) => (
          <Fragment key={number}>{cite(number, citations + ordinal + at)}</Fragment>
        ))
      : raw,
  // Definitions, and notes: these stand below the answer.
  def: () => null,
  space: () => null,
  note: () => null,
}

function renderToken(token: Token, around: Surroundings): ReactNode {
  const inside = () => renderTokens(('tokens' in token && token.tokens) || [], around)
  const render = renderers[token.type]
  return render ? render(token as never, inside, around) : token.raw
}

type ListProps = { token: Tokens.List; around: Surroundings }

function List({ token, around }: ListProps) {
  const items = token.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items only grow at the end.
    <li key={at} dir="auto">
      {renderTokens(item.tokens, around)}
    </li>
  ))
  if (token.ordered) {
    return (
      <ol
        dir="auto"
        start={typeof token.start === 'number' && token.start !== 1 ? token.start : undefined}
      >
        {items}
      </ol>
    )
  }
  return (
    <ul dir="auto" data-tasks={token.items.some(({ task }) => task) || undefined}>
      {items}
    </ul>
  )
}

type TableProps = { token: Tokens.Table; around: Surroundings }

function Table({ token, around }: TableProps) {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens, align }, at) => (
      <Cell
        // biome-ignore lint/suspicious/noArrayIndexKey: columns stay in their order.
        key={at}
        dir="auto"
        style={align ? { textAlign: align } : undefined}
      >
        {renderTokens(tokens, around)}
      </Cell>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
    <div className={`scroll-x ${classes.table}`} tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows only grow at the end.
            <tr key={at}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
