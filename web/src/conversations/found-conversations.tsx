import { useDebouncedValue } from '@mantine/hooks'
import type { SpotlightActionData } from '@mantine/spotlight'
import { IconMessage } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { formatAge } from '../components/format.ts'
import { searchQuery } from './queries.ts'

const PAUSE_MS = 150
const SHOWN_MAX = 8

/** Conversations for the command palette, best first, each with its best matching line. */
export function useFoundConversations(typed: string, isSignedIn: boolean): SpotlightActionData[] {
  const navigate = useNavigate()
  const [q] = useDebouncedValue(typed.trim(), PAUSE_MS)
  const found = useQuery({ ...searchQuery(q), enabled: isSignedIn && q !== '' })
  if (typed.trim() === '') return []
  return (found.data?.conversations ?? []).slice(0, SHOWN_MAX).map((conversation) => {
    const { id, title, updated_at, matches = [] } = conversation
    const line = matches.find(({ message_id }) => message_id !== null)?.text
    return {
      id: `conversation ${id}`,
      label: title,
      ...(line && { description: line }),
      leftSection: <IconMessage size={20} stroke={1.6} aria-hidden />,
      rightSection: <small style={{ whiteSpace: 'nowrap' }}>{formatAge(updated_at)}</small>,
      onClick: () => void navigate({ to: '/c/$id', params: { id } }),
    }
  })
}
