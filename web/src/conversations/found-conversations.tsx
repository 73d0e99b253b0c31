import { useDebouncedValue } from '@mantine/hooks'
import type { SpotlightActionData } from '@mantine/spotlight'
import { IconMessage } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
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
    const { id, title, matches = [] } = conversation
    const line = matches.find(({ message_id }) => message_id !== null)?.text
    return {
      id: `conversation ${id}`,
      label: title,
      ...(line && { description: cutLine(line, q) }),
      leftSection: <IconMessage size={20} stroke={1.6} aria-hidden />,
      onClick: () => void navigate({ to: '/c/$id', params: { id } }),
    }
  })
}

const LINE_MAX = 110

/** Returns the part of a line that begins shortly before the first found word. */
function cutLine(line: string, q: string): string {
  const word = q.split(/\s+/)[0]?.toLowerCase() ?? ''
  const from = Math.max(0, line.toLowerCase().indexOf(word) - LINE_MAX / 3)
  const start = from === 0 ? 0 : line.indexOf(' ', from) + 1
  const part = line.slice(start, start + LINE_MAX)
  return `${start > 0 ? '…' : ''}${part}${start + LINE_MAX < line.length ? '…' : ''}`
}
