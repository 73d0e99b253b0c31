import { useEffect, useRef } from 'react'
import { findFormat } from '#rag/ingest/parsers/formats.ts'
import { t } from '../language/text.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { findHighlights } from './highlights.ts'
import classes from './passage.module.css'

const PLAIN_ENDINGS = ['txt', 'text', 'rst']
/** Files whose view shows everything that they have. */
const WHOLE: readonly (string | undefined)[] = ['text', 'csv', 'eml', 'ipynb']

/** Returns true for files whose stored text is Markdown: the parsers write headings, lists and tables. */
export function isFormatted(name: string | null | undefined): boolean {
  // Older browsers could not highlight the sentence.
  if (!name || !('highlights' in CSS)) return false
  const ending = readEnding(name)
  const format = findFormat(ending)
  const isPlain = format === 'code' || format === 'subtitles' || PLAIN_ENDINGS.includes(ending)
  return format !== undefined && !isPlain
}

function readEnding(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

type FormattedTextProps = {
  name: string
  text: string
  passage: string
  /** A sentence of the passage, to highlight instead of the whole passage. */
  quote: string
}

/** A document with its headings, lists and tables, and the sentence highlighted. */
export function FormattedText({ name, text, passage, quote }: FormattedTextProps) {
  const box = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has other text nodes.
  useEffect(() => {
    if (box.current === null) return
    const ranges = findRanges(box.current, { passage, quote })
    CSS.highlights.set('cited', new Highlight(...ranges))
    ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: 'center' })
    return () => void CSS.highlights.delete('cited')
  }, [text, passage, quote])
  const cited = (quote || passage).trim()
  return (
    <>
      {/* Screen readers do not announce a highlight. */}
      {cited !== '' && <p className="visually-hidden">{t('Highlighted: “{0}”', cited)}</p>}
      <div ref={box} className={classes.formatted}>
        {!WHOLE.includes(findFormat(readEnding(name))) && (
          <p className={classes.simplified}>
            {t('The layout and pictures of the original are not shown.')}
          </p>
        )}
        <Markdown text={text} />
      </div>
    </>
  )
}

/** Returns the places of the sentence in the text nodes of the page. */
function findRanges(
  box: HTMLElement,
  { passage, quote }: Pick<FormattedTextProps, 'passage' | 'quote'>,
): Range[] {
  const nodes: Text[] = []
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) nodes.push(walker.currentNode as Text)
  const highlights = findHighlights(
    nodes.map(({ data }) => data).join('\n'),
    quote || passage,
    passage,
  )
  const ranges: Range[] = []
  let at = 0
  for (const node of nodes) {
    const marks = highlights.subarray(at, at + node.length)
    at += node.length + 1
    const [first, last] = [marks.indexOf(1), marks.lastIndexOf(1)]
    if (first < 0) continue
    const range = document.createRange()
    range.setStart(node, first)
    range.setEnd(node, last + 1)
    ranges.push(range)
  }
  return ranges
}
