// Searches the service for the palette. Each source answers for the caller alone: conversations
// and files are the user's, and customers and orders need a superuser.

import { useDebouncedValue } from '@mantine/hooks'
import { IconFiles, IconMessage, IconReceipt, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { readQuery } from '../../api/queries.ts'
import type { User } from '../../api/types.ts'
import { searchQuery } from '../../conversations/queries.ts'
import { t } from '../../language/text.ts'
import { foundFilesQuery } from '../../library/files-query.ts'
import type { Entry } from './entry.ts'

const PAUSE_MS = 150
const SHOWN_MAX = 6
const LINE_MAX = 110

export type Found = { entries: Entry[]; isSearching: boolean; hasFailed: boolean }

export function useFound(typed: string, user: User | undefined): Found {
  const [q] = useDebouncedValue(typed, PAUSE_MS)
  const has = (one: 'home' | 'library') => q !== '' && user?.entitlements.includes(one) === true
  const isOperator = q.length > 1 && user?.is_superuser === true
  const conversations = useQuery({ ...searchQuery(q), enabled: has('home') })
  const files = useQuery({ ...foundFilesQuery(q, SHOWN_MAX), enabled: has('library') })
  const customers = useQuery({
    ...readQuery(['customers', 'palette', q], '/api/admin/users', {
      query: { find: q, limit: SHOWN_MAX },
    }),
    enabled: isOperator,
  })
  const orders = useQuery({
    ...readQuery(['shop', 'palette', q], '/api/admin/purchases', {
      query: { q, limit: SHOWN_MAX },
    }),
    enabled: isOperator,
  })

  const all = [conversations, files, customers, orders]
  const hasFailed = all.some(({ isError }) => isError)
  // Rows of an earlier text would be chosen by mistake.
  if (typed === '' || q !== typed)
    return { entries: [], isSearching: typed !== '', hasFailed: false }
  return {
    entries: [
      ...(conversations.isPlaceholderData ? [] : (conversations.data?.conversations ?? []))
        .slice(0, SHOWN_MAX)
        .map(({ id, title, matches = [] }) => {
          const line = matches.find(({ message_id }) => message_id !== null)?.text
          return {
            id: `conversation-${id}`,
            group: t('Conversations'),
            label: title,
            detail: line && cutLine(line, q),
            icon: IconMessage,
            href: `/c/${id}`,
          }
        }),
      ...(files.data?.files ?? []).map(({ id, source }) => ({
        id: `file-${id}`,
        group: t('Files'),
        label: source ?? t('Pasted text'),
        icon: IconFiles,
        href: `/library/${id}`,
      })),
      ...(customers.data?.users ?? []).map(({ id, email, full_name }) => ({
        id: `customer-${id}`,
        group: t('Customers'),
        label: full_name ?? email,
        ...(full_name && { detail: email }),
        icon: IconUsers,
        href: `/customers/${id}`,
      })),
      ...(orders.data?.purchases ?? []).map(({ id, email, tier, status }) => ({
        id: `order-${id}`,
        group: t('Orders'),
        label: `${tier} · ${status}`,
        detail: email ?? t('Guest'),
        icon: IconReceipt,
        href: `/shop/orders/${id}`,
      })),
    ],
    isSearching: all.some(({ isFetching }) => isFetching),
    hasFailed,
  }
}

/** Returns the part of a line that begins shortly before the first found word. */
function cutLine(line: string, q: string): string {
  const word = q.split(/\s+/)[0]?.toLowerCase() ?? ''
  const from = Math.max(0, line.toLowerCase().indexOf(word) - LINE_MAX / 3)
  const start = from === 0 ? 0 : line.indexOf(' ', from) + 1
  const part = line.slice(start, start + LINE_MAX)
  return `${start > 0 ? '…' : ''}${part}${start + LINE_MAX < line.length ? '…' : ''}`
}
