import { memo, useId, useMemo, useState } from 'react'
import { BlockReader } from './block-reader.ts'
import { IsGrowing } from './is-growing.ts'
import type { Block } from './lexer.ts'
import classes from './markdown.module.css'
import { NoteList, Notes } from './notes.tsx'
import { type RenderCitation, renderTokens } from './render.tsx'

type MarkdownProps = {
  text: string
  /** The text is growing at its end. */
  streaming?: boolean
  /**
   * Renders `[2]`, a citation of passage 2. `ordinal` counts the citations before it in the answer.
   * Must be a stable function; otherwise every token renders every block again.
   */
  cite?: RenderCitation
}

/** Renders untrusted Markdown as elements: no HTML of the text reaches the page. */
export const Markdown = memo(function Markdown({ text, streaming = false, cite }: MarkdownProps) {
  const id = useId()
  const isCited = cite !== undefined
  const reader = useMemo(() => new BlockReader(isCited), [isCited])
  const blocks = reader.read(text, streaming)
  const notes = useNotes(blocks, id, text.includes('[^'))
  let citations = 0
  return (
    <div className={classes.prose}>
      {blocks.map((block, at) => {
        const before = citations
        citations += block.citations
        return (
          <IsGrowing
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at the end.
            key={at}
            value={streaming && at === blocks.length - 1}
          >
            <BlockView block={block} notes={notes} cite={cite} citations={before} />
          </IsGrowing>
        )
      })}
      <NoteList
        notes={notes}
        render={(note) => renderTokens(note.tokens, { notes, cite, citations })}
      />
    </div>
  )
})

type BlockViewProps = {
  block: Block
  notes: Notes
  cite: RenderCitation | undefined
  citations: number
}

const BlockView = memo(function BlockView({ block, ...around }: BlockViewProps) {
  return renderTokens(block.tokens, around)
})

/** Without footnotes, the same object, so that finished blocks do not render again. */
function useNotes(blocks: Block[], id: string, hasNotes: boolean): Notes {
  const [none] = useState(() => new Notes([], id))
  return useMemo(() => (hasNotes ? new Notes(blocks, id) : none), [blocks, hasNotes, id, none])
}
