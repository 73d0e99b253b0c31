import { IconArchive, IconArrowLeft, IconSettings } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { formatProblem, isClosedInView } from '../../api/problem.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import { groupByDay } from '../day-groups.ts'
import { localConversationList } from '../local/conversation-list.ts'
import { conversationsQuery, keepingQuery } from '../queries.ts'
import '../tokens.css'
import { StoredRow } from './conversation-row.tsx'
import classes from './sidebar.module.css'

const SettingsDialog = lazyPart(() => import('../dialogs/settings-dialog.tsx'), 'SettingsDialog')

const LocalConversations = lazyPart(() => import('./local-conversations.tsx'), 'LocalConversations')

/** The conversations in the side menu, by day, with the archive and their settings. */
export function ConversationSidebar() {
  const [isArchive, setIsArchive] = useState(false)
  const [showsSettings, setShowsSettings] = useState(false)
  const keeping = useQuery(keepingQuery).data?.keeping
  return (
    <section className={classes.sidebar} aria-label={t('Conversations')}>
      <div className={classes.lists}>
        {isArchive ? (
          <>
            <button type="button" className={classes.back} onClick={() => setIsArchive(false)}>
              <IconArrowLeft size={16} aria-hidden /> {t('Archive')}
            </button>
            <StoredList isArchive />
          </>
        ) : (
          <>
            <LocalList isOnly={keeping === 'browser'} />
            {keeping === 'account' && <StoredList isArchive={false} />}
          </>
        )}
      </div>
      <div className={classes.foot}>
        {keeping === 'account' && !isArchive && (
          <button type="button" onClick={() => setIsArchive(true)}>
            <IconArchive size={17} stroke={1.7} aria-hidden /> {t('Archive')}
          </button>
        )}
        <button type="button" onClick={() => setShowsSettings(true)}>
          <IconSettings size={17} stroke={1.7} aria-hidden /> {t('Manage')}
        </button>
      </div>
      <Suspense>
        {showsSettings && <SettingsDialog onClose={() => setShowsSettings(false)} />}
      </Suspense>
    </section>
  )
}

function StoredList({ isArchive }: { isArchive: boolean }) {
  const list = useInfiniteQuery(conversationsQuery({ archived: isArchive }))
  const all = list.data?.pages.flatMap(({ conversations }) => conversations) ?? []
  if (list.isPending) return <div className={classes.loading} aria-busy="true" />
  if (list.isError && all.length === 0)
    return (
      <p className={classes.empty} role="alert">
        {isClosedInView(list.error) ? (
          t('Private. Your view of this account doesn’t show it.')
        ) : (
          <>
            {formatProblem(list.error)}{' '}
            <button type="button" className={classes.retry} onClick={() => void list.refetch()}>
              {t('Try again')}
            </button>
          </>
        )}
      </p>
    )
  if (all.length === 0)
    return (
      <p className={classes.empty}>
        {isArchive ? t('The archive is empty.') : t('Your conversations appear here.')}
      </p>
    )
  return (
    <>
      {groupByDay(all).map(({ title, items }) => (
        <section key={title} aria-label={title}>
          <h3 className={classes.day}>{title}</h3>
          <ul className={classes.list}>
            {items.map((conversation) => (
              <StoredRow key={conversation.id} conversation={conversation} />
            ))}
          </ul>
        </section>
      ))}
      {list.hasNextPage && (
        <button
          type="button"
          className={classes.more}
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t('Show more')}
        </button>
      )}
    </>
  )
}

function LocalList({ isOnly }: { isOnly: boolean }) {
  const all = localConversationList.use(useUser().id)
  if (all.length === 0)
    return isOnly ? <p className={classes.empty}>{t('Your conversations appear here.')}</p> : null
  return (
    <Suspense>
      <LocalConversations conversations={all} />
    </Suspense>
  )
}
