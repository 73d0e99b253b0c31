import {
  IconAdjustments,
  IconArchive,
  IconArchiveOff,
  IconDots,
  IconPencil,
  IconPin,
  IconPinnedOff,
  IconShare2,
  IconTrash,
} from '@tabler/icons-react'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { api } from '../api/client.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { Menu } from '../components/menu.tsx'
import { t } from '../language/text.ts'
import type { ListedConversation } from './api.ts'
import { IconButton } from './parts/icon-button.tsx'
import { announceChange } from './queries.ts'

const ShareDialog = lazyPart(() => import('./dialogs/share-dialog.tsx'), 'ShareDialog')
const DeleteDialog = lazyPart(() => import('./dialogs/delete-dialog.tsx'), 'DeleteDialog')

type Named = Pick<ListedConversation, 'id' | 'title' | 'pinned_at' | 'archived_at'>
type ConversationMenuProps = {
  conversation: Named
  onRename: () => void
  onInstructions?: () => void
  className?: string | undefined
}

/** Rename, pin, share, archive and delete. */
export function ConversationMenu({
  conversation,
  onRename,
  onInstructions,
  className,
}: ConversationMenuProps) {
  const { id, title, pinned_at, archived_at } = conversation
  const [dialog, setDialog] = useState<'share' | 'delete' | null>(null)
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isPinned = pinned_at !== null
  const isArchived = archived_at !== null
  return (
    <>
      <Menu
        label={t('Actions for “{0}”', title)}
        button={(target) => (
          <IconButton
            {...target}
            label={t('Actions for “{0}”', title)}
            data-tip-side="below"
            data-tip-align="end"
            className={className}
          >
            <IconDots size={19} aria-hidden />
          </IconButton>
        )}
        groups={[
          [
            { label: t('Rename'), icon: IconPencil, onSelect: onRename },
            {
              label: isPinned ? t('Unpin') : t('Pin'),
              icon: isPinned ? IconPinnedOff : IconPin,
              onSelect: () => void changeConversation(id, { is_pinned: !isPinned }),
            },
            onInstructions && {
              label: t('Instructions…'),
              icon: IconAdjustments,
              onSelect: onInstructions,
            },
            { label: t('Share…'), icon: IconShare2, onSelect: () => setDialog('share') },
            {
              label: isArchived ? t('Move out of archive') : t('Archive'),
              icon: isArchived ? IconArchiveOff : IconArchive,
              onSelect: () => void changeConversation(id, { is_archived: !isArchived }),
            },
          ],
          [
            {
              label: t('Delete…'),
              icon: IconTrash,
              isDangerous: true,
              onSelect: () => setDialog('delete'),
            },
          ],
        ]}
      />
      <Suspense>
        {dialog === 'share' && <ShareDialog conversationId={id} onClose={() => setDialog(null)} />}
        {dialog === 'delete' && (
          <DeleteDialog
            title={t('Delete “{0}”?', title)}
            text={t('This deletes the conversation and its shared links. You cannot undo this.')}
            action={t('Delete')}
            onDelete={async () => {
              await api.delete('/api/conversations/{id}', undefined, { path: { id } })
              // Before the navigation, so that the lists do not wait for the page.
              void announceChange()
              if (path === `/c/${id}`) await navigate({ to: '/home' })
            }}
            onClose={() => setDialog(null)}
          />
        )}
      </Suspense>
    </>
  )
}

type Change = { title?: string; is_pinned?: boolean; is_archived?: boolean }

export async function changeConversation(id: string, change: Change): Promise<void> {
  await api.patch('/api/conversations/{id}', change, { path: { id } })
  await announceChange(id)
}
