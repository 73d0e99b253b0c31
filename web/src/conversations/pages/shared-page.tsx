import { Skeleton } from '@mantine/core'
import { IconLinkOff } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../../api/client.ts'
import { ApiProblem, formatProblem } from '../../api/problem.ts'
import { readQuery } from '../../api/queries.ts'
import type { SharedMessage } from '../../api/types.ts'
import { BRAND } from '../../components/brand.ts'
import { formatDay, plural } from '../../components/format.ts'
import { LinkButton } from '../../components/links.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Notice } from '../../components/notice.tsx'
import { useTitle } from '../../components/title.ts'
import { t } from '../../language/text.ts'
import { useHasSession } from '../../session/use-session.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { announceChange } from '../queries.ts'
import '../tokens.css'
import { Markdown } from '../../markdown/markdown.tsx'
import classes from './shared-page.module.css'

const route = getRouteApi('/public/s/$token')

/** A conversation that somebody shared by a link. */
export function SharedPage() {
  const { token } = route.useParams()
  const shared = useQuery({
    ...readQuery(['shared', token], '/api/shared/{token}', { path: { token }, anonymous: true }),
    retry: (failures, error) =>
      failures < 2 && error instanceof ApiProblem && (error.status === 0 || error.status >= 500),
  })
  useNoIndex()
  const { error } = shared
  if (error instanceof ApiProblem && (error.status === 404 || error.status === 410))
    return <Ended />
  return (
    <div className={classes.page}>
      <Loaded query={shared} skeleton={<Skeleton h={400} />}>
        {(copy) => (
          <Shared
            token={token}
            title={copy.title}
            publishedAt={copy.updated_at}
            messages={copy.messages}
          />
        )}
      </Loaded>
    </div>
  )
}

type SharedProps = { token: string; title: string; publishedAt: string; messages: SharedMessage[] }

function Shared({ token, title, publishedAt, messages }: SharedProps) {
  useTitle(title)
  return (
    <>
      <header className={classes.head}>
        <h1 dir="auto">{title}</h1>
        <p>
          {t(
            'A conversation shared from {0}, {1}. Models can be wrong.',
            BRAND,
            formatDay(publishedAt),
          )}
        </p>
      </header>
      <SharedTurns messages={messages} />
      <Continue token={token} />
    </>
  )
}

function Continue({ token }: { token: string }) {
  const isSignedIn = useHasSession()
  const navigate = useNavigate()
  const copy = useMutation({
    mutationFn: () => api.post('/api/shared/{token}/copy', undefined, { path: { token } }),
    onSuccess: async ({ id }) => {
      await announceChange()
      await navigate({ to: '/c/$id', params: { id } })
    },
  })
  return (
    <footer className={classes.foot}>
      {isSignedIn ? (
        <ActionButton tone="primary" disabled={copy.isPending} onClick={() => copy.mutate()}>
          {t('Continue as a copy')}
        </ActionButton>
      ) : (
        <LinkButton to="/register" search={{ redirect: `/s/${token}` }}>
          {t('Sign up to continue this conversation')}
        </LinkButton>
      )}
      {copy.isError && <p role="alert">{formatProblem(copy.error)}</p>}
    </footer>
  )
}

function Ended() {
  useTitle(t('Link ended'))
  return (
    <div>
      <Notice
        icon={IconLinkOff}
        order={1}
        title={t('Link ended')}
        action={<LinkButton to="/">{t('Back to home')}</LinkButton>}
      >
        {t('Its owner ended it, or it expired.')}
      </Notice>
    </div>
  )
}

function useNoIndex() {
  useEffect(() => {
    const tag = document.createElement('meta')
    tag.name = 'robots'
    tag.content = 'noindex'
    document.head.append(tag)
    return () => tag.remove()
  }, [])
}

/** The messages of a shared copy, each answer with its cited sentences. */
function SharedTurns({ messages }: { messages: SharedMessage[] }) {
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
