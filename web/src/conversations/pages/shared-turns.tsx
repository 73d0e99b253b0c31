import type { SharedMessage } from '../../api/types.ts'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import classes from './shared-page.module.css'

/** The messages of a shared copy, each answer with its cited sentences. */
export function SharedTurns({ messages }: { messages: SharedMessage[] }) {
  return messages.map((message, index) =>
    message.role === 'user' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a frozen copy does not change.
      <article key={index} className={classes.question}>
        <h2 className="visually-hidden">{t('Question')}</h2>
        <div dir="auto">
          {message.text}
          {message.attachments > 0 && (
            <small> {t('({0} not shared)', plural(message.attachments, 'attachment'))}</small>
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
      <h2 className="visually-hidden">{t('Answer')}</h2>
      <Markdown text={text} cite={renderNumber} />
      {sources.length > 0 && (
        <ol className={classes.sources} aria-label={t('Sources')}>
          {sources.map(({ number, name }) => (
            <li key={number}>
              <span>
                <b>[{number}]</b> {name || t('Pasted text')}
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
