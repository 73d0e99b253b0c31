import { IconGhost2, IconShare2 } from '@tabler/icons-react'
import { type ReactNode, Suspense, useState } from 'react'
import type { Conversation } from '../api/types.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { useTitle } from '../components/title.ts'
import { t } from '../language/text.ts'
import { ConversationMenu, changeConversation } from './conversation-menu.tsx'
import { RenameField } from './lazy-rename-field.ts'
import { IconButton } from './parts/icon-button.tsx'
import classes from './thread-header.module.css'

const ShareDialog = lazyPart(() => import('./dialogs/share-dialog.tsx'), 'ShareDialog')

const InstructionsDialog = lazyPart(
  () => import('./dialogs/instructions-dialog.tsx'),
  'InstructionsDialog',
)

/** Title and actions of a kept conversation. */
export function ThreadHeader({ conversation }: { conversation: Conversation }) {
  const { id } = conversation
  const title = conversation.title || t('New conversation')
  const [isRenaming, setIsRenaming] = useState(false)
  const [dialog, setDialog] = useState<'share' | 'instructions' | null>(null)
  useTitle(title)
  const heading = (
    <h1 className={classes.title} dir="auto">
      {title}
    </h1>
  )
  return (
    <header className={classes.head}>
      {isRenaming ? (
        <Suspense fallback={heading}>
          <RenameField
            title={title}
            onSave={(next) => {
              setIsRenaming(false)
              if (next !== title) void changeConversation(id, { title: next })
            }}
            onCancel={() => setIsRenaming(false)}
          />
        </Suspense>
      ) : (
        heading
      )}
      <IconButton
        label={t('Share')}
        data-tip-side="below"
        data-tip-align="end"
        onClick={() => setDialog('share')}
      >
        <IconShare2 size={19} stroke={1.7} aria-hidden />
      </IconButton>
      <ConversationMenu
        conversation={conversation}
        onRename={() => setIsRenaming(true)}
        onInstructions={() => setDialog('instructions')}
      />
      <Suspense>
        {dialog === 'share' && <ShareDialog conversationId={id} onClose={() => setDialog(null)} />}
        {dialog === 'instructions' && (
          <InstructionsDialog conversation={conversation} onClose={() => setDialog(null)} />
        )}
      </Suspense>
    </header>
  )
}

type PlainHeaderProps = { title: string; note?: string; children?: ReactNode }

/** Header of a conversation that the account does not keep. */
export function PlainHeader({ title, note, children }: PlainHeaderProps) {
  useTitle(title)
  return (
    <header className={classes.head}>
      <h1 className={classes.title} dir="auto">
        {title}
      </h1>
      {note && (
        <span className={classes.note}>
          <IconGhost2 size={16} aria-hidden />
          {note}
        </span>
      )}
      {children}
    </header>
  )
}
