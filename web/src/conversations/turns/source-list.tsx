import type { Quote } from '../../api/types.ts'
import { flattenTables } from '../../documents/table-text.ts'
import { t } from '../../language/text.ts'
import type { Message, Source } from '../api.ts'
import { findMarks, resolveMarks } from '../citations.ts'
import { nameSource } from '../live/turns.ts'
import classes from './answer.module.css'

type ListedSource = { number: number; source: Source; quotes: Quote[]; place: string }

/**
 * Returns the cited sources of an answer, or all found ones when it cites none. `place` opens the
 * first mark of the source.
 */
export function listSources({ sources, citations }: Message, text: string): ListedSource[] {
  const marks = findMarks(text)
  const cited = resolveMarks(text, sources, citations)
  const list = sources.map((source, index) => {
    const number = index + 1
    const ordinal = marks.findIndex((mark) => mark.source === number)
    const quotes = cited.flatMap((one) => (one?.number === number && one.quote ? one.quote : []))
    return {
      number,
      source,
      quotes: [...new Map(quotes.map((quote) => [quote.start, quote])).values()],
      place: ordinal < 0 ? `s${number}` : String(ordinal),
      isCited: ordinal >= 0,
    }
  })
  const isCited = list.some((one) => one.isCited)
  return list.filter((one) => one.isCited || !isCited)
}

type SourceListProps = { message: Message; text: string; onOpen: (place: string) => void }

const SHORT = 200

export function SourceList({ message, text, onOpen }: SourceListProps) {
  return (
    <ol className={classes.sources} aria-label={t('Sources')}>
      {listSources(message, text).map(({ number, source, quotes, place }) => {
        const page = quotes[0]?.page ?? source.page
        const lines =
          quotes.length > 0
            ? quotes.map(({ text }) => flattenTables(text.trim()))
            : [cut(source.content)]
        return (
          <li key={number}>
            <button type="button" onClick={() => onOpen(place)}>
              <span className={classes.sourceName}>
                <b>{number}</b> <span>{nameSource(source)}</span>
                {page !== null && <i>p. {page}</i>}
              </span>
              {lines.map((line) => (
                <q key={line} dir="auto">
                  {line}
                </q>
              ))}
            </button>
          </li>
        )
      })}
    </ol>
  )
}

function cut(text: string): string {
  const line = flattenTables(text.trim())
  return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line
}
