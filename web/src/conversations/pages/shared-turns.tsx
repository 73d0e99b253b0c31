import { Markdown } from '../../markdown/markdown.tsx'
import type { Message } from '../api.ts'
import { nameSource, readText } from '../live/turns.ts'
import { listSources } from '../turns/source-list.tsx'
import classes from './shared-page.module.css'

/** The turns of a shared copy. A mark leads to its sentence below the answer. */
export function SharedTurns({ messages }: { messages: Message[] }) {
  return messages.map((message) =>
    message.role === 'user' ? (
      <article key={message.id} className={classes.question}>
        <h2 className="visually-hidden">Question</h2>
        <div dir="auto">{readText(message)}</div>
      </article>
    ) : (
      <SharedAnswer key={message.id} message={message} />
    ),
  )
}

function SharedAnswer({ message }: { message: Message }) {
  const text = readText(message)
  const sources = message.sources.length > 0 ? listSources(message, text) : []
  return (
    <article className={classes.answer}>
      <h2 className="visually-hidden">Answer</h2>
      <Markdown text={text} />
      {sources.length > 0 && (
        <ol className={classes.sources} aria-label="Sources">
          {sources.map(({ number, source, quotes }) => (
            <li key={number}>
              <span>
                <b>[{number}]</b> {nameSource(source)}
              </span>
              {quotes.map((quote) => (
                <q key={quote.start} dir="auto">
                  {quote.text.trim()}
                  {quote.page !== null && <small> p. {quote.page}</small>}
                </q>
              ))}
            </li>
          ))}
        </ol>
      )}
    </article>
  )
}
