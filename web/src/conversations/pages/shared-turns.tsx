import type { SharedMessage } from '../../api/types.ts'
import { plural } from '../../components/format.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import classes from './shared-page.module.css'

/** The messages of a shared copy, each answer with its cited sentences. */
export function SharedTurns({ messages }: { messages: SharedMessage[] }) {
  return messages.map((message, index) =>
    message.role === 'user' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a frozen copy does not change.
      <article key={index} className={classes.question}>
        <h2 className="visually-hidden">Question</h2>
        <div dir="auto">
          {message.text}
          {message.attachments > 0 && (
            <small> ({plural(message.attachments, 'attachment')} not shared)</small>
          )}
        </div>
      </article>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above.
      <SharedAnswer key={index} message={message} />
    ),
  )
}

function SharedAnswer({ message: { text, sources, citations } }: { message: SharedMessage }) {
  return (
    <article className={classes.answer}>
      <h2 className="visually-hidden">Answer</h2>
      <Markdown text={text} cite={renderNumber} />
      {sources.length > 0 && (
        <ol className={classes.sources} aria-label="Sources">
          {sources.map(({ number, name }) => (
            <li key={number}>
              <span>
                <b>[{number}]</b> {name || 'Pasted text'}
              </span>
              {citations
                .filter(({ source }) => source === number)
                .map(({ start, quote }) => (
                  <q key={start} dir="auto">
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

const renderNumber = (number: number) => <sup className={classes.mark}>{number}</sup>
