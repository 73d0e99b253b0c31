import { createBrowserList } from '../../components/browser-list.ts'
import type { LocalMessage } from './tree.ts'

export type LocalConversation = {
  id: string
  title: string
  updated_at: string
  leaf_id: string | null
  messages: LocalMessage[]
}

/** The conversations of this browser, with references instead of pictures. The menu lists them. */
export const localConversationList = createBrowserList<LocalConversation>('kept-here', 60)
