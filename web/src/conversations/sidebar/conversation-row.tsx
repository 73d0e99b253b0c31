import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { t } from '../../language/text.ts'
import type { ListedConversation } from '../api.ts'
import { ConversationMenu, changeConversation } from '../conversation-menu.tsx'
import { RenameField } from '../lazy-rename-field.ts'
import classes from './sidebar.module.css'

export function StoredRow({ conversation }: { conversation: ListedConversation }) {
  const { id, title, is_running } = conversation
  const [isRenaming, setIsRenaming] = useState(false)
  if (isRenaming) {
    return (
      <li className={classes.row}>
        <Suspense fallback={<RowLink id={id} title={title} isRunning={is_running} />}>
          <RenameField
            title={title}
            onSave={(next) => {
              setIsRenaming(false)
              if (next !== title) void changeConversation(id, { title: next })
            }}
            onCancel={() => setIsRenaming(false)}
          />
        </Suspense>
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

/** Before its first answer, a conversation has no title. */
const UNTITLED = t('New conversation')

type RowLinkProps = { id: string; title: string; isRunning: boolean }

export function RowLink({ id, title, isRunning }: RowLinkProps) {
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
      {isRunning && (
        <span className={classes.running} role="img" aria-label={t('Being answered')} />
      )}
    </Link>
  )
}
