import { IconTrash } from '@tabler/icons-react'
import { useNavigate, useParams } from '@tanstack/react-router'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import { liveAnswers } from '../live/live-answers.ts'
import type { LocalConversation } from '../local/conversation-list.ts'
import { inBrowser } from '../local/local-conversations.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { RowLink } from './conversation-row.tsx'
import classes from './sidebar.module.css'

/** Conversations of this browser. Few people have some, so this loads when there is one. */
export function LocalConversations({ conversations }: { conversations: LocalConversation[] }) {
  return (
    <section aria-label={t('In this browser')}>
      <h3 className={classes.day}>{t('In this browser')}</h3>
      <ul className={classes.list}>
        {conversations.map((conversation) => (
          <LocalRow key={conversation.id} conversation={conversation} />
        ))}
      </ul>
    </section>
  )
}

function LocalRow({ conversation: { id, title } }: { conversation: LocalConversation }) {
  const user = useUser()
  const navigate = useNavigate()
  const { id: openId } = useParams({ strict: false })
  const remove = () => {
    liveAnswers.drop(id)
    inBrowser.update(user.id, (stored) => stored.filter((one) => one.id !== id))
    if (openId === id) void navigate({ to: '/home' })
  }
  return (
    <li className={classes.row}>
      <RowLink id={id} title={title} isRunning={false} />
      <IconButton
        label={t('Delete “{0}”', title)}
        data-tip-side="below"
        data-tip-align="end"
        className={classes.actions}
        onClick={remove}
      >
        <IconTrash size={17} aria-hidden />
      </IconButton>
    </li>
  )
}
