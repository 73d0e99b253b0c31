import { IconTrash } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useUser } from '../../session/user.ts'
import type { ListedConversation } from '../api.ts'
import { ConversationMenu, changeConversation } from '../conversation-menu.tsx'
import { liveAnswers } from '../live/live-answers.ts'
import { inBrowser, type LocalConversation } from '../local/local-conversations.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { RenameField } from '../rename-field.tsx'
import classes from './sidebar.module.css'

export function StoredRow({ conversation }: { conversation: ListedConversation }) {
  const { id, title, is_running } = conversation
  const [isRenaming, setIsRenaming] = useState(false)
  if (isRenaming) {
    return (
      <li className={classes.row}>
        <RenameField
          title={title}
          onSave={(next) => {
            setIsRenaming(false)
            if (next !== title) void changeConversation(id, { title: next })
          }}
          onCancel={() => setIsRenaming(false)}
        />
      </li>
    )
  }
  return (
    <li className={classes.row}>
      <RowLink id={id} title={title} isRunning={is_running} />
      <ConversationMenu
        conversation={conversation}
        onRename={() => setIsRenaming(true)}
        className={classes.actions}
      />
    </li>
  )
}

export function LocalRow({ conversation: { id, title } }: { conversation: LocalConversation }) {
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
        label={`Delete “${title}”`}
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

/** Before its first answer, a conversation has no title. */
const UNTITLED = 'New conversation'

type RowLinkProps = { id: string; title: string; isRunning: boolean }

function RowLink({ id, title, isRunning }: RowLinkProps) {
  return (
    <Link
      to="/c/$id"
      params={{ id }}
      search={{}}
      activeOptions={{ includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
      className={classes.link}
    >
      <span className={classes.name} dir="auto">
        {title || UNTITLED}
      </span>
      {isRunning && <span className={classes.running} role="img" aria-label="Being answered" />}
    </Link>
  )
}
