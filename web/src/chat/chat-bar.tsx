import { ActionIcon, Group, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconHistory, IconPlus } from '@tabler/icons-react'
import type { ModelList } from '../api/types.ts'
import type { ChosenModel, ModelSearch } from './chosen-model.ts'
import type { Conversation, GenerationSettings } from './conversation.ts'
import { ConversationDrawer } from './conversation-drawer.tsx'
import { GenerationSettingsPopover } from './generation-settings.tsx'
import { ModelChoice } from './model-choice.tsx'

type ChatBarProps = {
  conversations: Conversation[]
  openId: string | undefined
  onOpen: (id: string | undefined) => void
  models: ModelList | undefined
  modelsFailed: boolean
  chosen: ChosenModel
  onModel: (wanted: ModelSearch) => void
  settings: GenerationSettings
  onSettings: (settings: GenerationSettings) => void
}

export function ChatBar(props: ChatBarProps) {
  const [drawerOpen, drawer] = useDisclosure(false)
  return (
    <Group justify="space-between" gap="xs" mb="xs">
      <ModelChoice
        models={props.models}
        failed={props.modelsFailed}
        chosen={props.chosen}
        onChange={props.onModel}
      />
      <Group gap={0} wrap="nowrap" ml="auto">
        <GenerationSettingsPopover settings={props.settings} onChange={props.onSettings} />
        <Tooltip label="Conversations">
          <ActionIcon onClick={drawer.open} aria-label="Conversations">
            <IconHistory size={20} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="New conversation">
          <ActionIcon onClick={() => props.onOpen(undefined)} aria-label="New conversation">
            <IconPlus size={20} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      <ConversationDrawer
        opened={drawerOpen}
        onClose={drawer.close}
        conversations={props.conversations}
        openId={props.openId}
        onOpen={props.onOpen}
      />
    </Group>
  )
}
