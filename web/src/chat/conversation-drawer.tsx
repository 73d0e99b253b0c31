import { ActionIcon, Button, Drawer, Group, NavLink, Stack } from '@mantine/core'
import { IconMessages, IconTrash } from '@tabler/icons-react'
import { formatAge } from '../components/format.ts'
import { Notice } from '../components/notice.tsx'
import { useUser } from '../session/user.ts'
import { buildTitle, type Conversation } from './conversation.ts'
import { deleteAllConversations, deleteConversation } from './conversation-store.ts'

type ConversationDrawerProps = {
  opened: boolean
  onClose: () => void
  conversations: Conversation[]
  openId: string | undefined
  onOpen: (id: string | undefined) => void
}

export function ConversationDrawer({
  opened,
  onClose,
  conversations,
  openId,
  onOpen,
}: ConversationDrawerProps) {
  const user = useUser()
  const remove = (id: string) => {
    deleteConversation(user.id, id)
    if (id === openId) onOpen(undefined)
  }
  return (
    <Drawer opened={opened} onClose={onClose} position="right" title="Conversations" size={360}>
      {conversations.length === 0 ? (
        <Notice icon={IconMessages} title="No conversations yet">
          Conversations stay in this browser until you sign out.
        </Notice>
      ) : (
        <Stack gap={4}>
          {conversations.map((conversation) => (
            <Group key={conversation.id} gap={4} wrap="nowrap">
              <NavLink
                component="button"
                label={<span dir="auto">{buildTitle(conversation)}</span>}
                description={formatAge(conversation.updatedAt)}
                active={conversation.id === openId}
                onClick={() => {
                  onOpen(conversation.id)
                  onClose()
                }}
                style={{ borderRadius: 10 }}
              />
              <ActionIcon
                onClick={() => remove(conversation.id)}
                aria-label={`Delete “${buildTitle(conversation)}”`}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          <Button
            variant="subtle"
            color="red"
            mt="md"
            onClick={() => {
              deleteAllConversations(user.id)
              onOpen(undefined)
            }}
          >
            Delete all
          </Button>
        </Stack>
      )}
    </Drawer>
  )
}
