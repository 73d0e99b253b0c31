import { VisuallyHidden } from '@mantine/core'
import { walkTokens } from 'marked'
import type { ReactNode } from 'react'
import { t } from '../language/text.ts'
import type { Block, NoteMarkToken, NoteToken } from './lexer.ts'
import { NoteLink } from './links.tsx'

type Note = { number: number; id: string; markId: string; content: NoteToken }

/** The footnotes of an answer, numbered as they are first mentioned. */
export class Notes {
  readonly #notes = new Map<string, Note>()

  /** `id` begins the elements' ids, because every answer's notes start at 1. */
  constructor(blocks: readonly Block[], id: string) {
    const all = blocks.flatMap(({ tokens }) => tokens)
    const contents = new Map(
      all.flatMap((token) => (token.type === 'note' ? [[token.label, token as NoteToken]] : [])),
    )
    if (contents.size === 0) return
    walkTokens(all, (token) => {
      if (token.type !== 'note-mark') return
      const { label } = token as NoteMarkToken
      const content = contents.get(label)
      if (!content || this.#notes.has(label)) return
      const number = this.#notes.size + 1
      this.#notes.set(label, {
        number,
        id: `${id}-note-${number}`,
        markId: `${id}-mark-${number}`,
        content,
      })
    })
  }

  find(label: string): Note | undefined {
    return this.#notes.get(label)
  }

  list(): Note[] {
    return [...this.#notes.values()]
  }
}

type NoteListProps = { notes: Notes; render: (note: NoteToken) => ReactNode }

export function NoteList({ notes, render }: NoteListProps) {
  const list = notes.list()
  if (list.length === 0) return null
  return (
    <section data-footnotes>
      {/* They have a visible line, so their heading is for screen readers only. */}
      <VisuallyHidden component="h3">{t('Footnotes')}</VisuallyHidden>
      <ol>
        {list.map(({ number, id, markId, content }) => (
          <li key={id} id={id} tabIndex={-1} dir="auto">
            {render(content)}
            <NoteLink to={markId} label={t('Back to reference {0}', number)}>
              ↩
            </NoteLink>
          </li>
        ))}
      </ol>
    </section>
  )
}
