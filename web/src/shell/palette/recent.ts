import { IconClock, IconFiles, IconMessage, IconReceipt, IconUsers } from '@tabler/icons-react'
import type { User } from '../../api/types.ts'
import { createBrowserList } from '../../components/browser-list.ts'
import { t } from '../../language/text.ts'
import { findPlace } from '../navigation.ts'
import type { Entry } from './entry.ts'

/** A page that a user opened from the palette. The list is newest first; sign-out deletes it. */
type Recent = { href: string; label: string; detail?: string }

const RECENT_MAX = 6

const recents = createBrowserList<Recent>('palette', RECENT_MAX)

const ICONS = [
  ['/c/', IconMessage],
  ['/library/', IconFiles],
  ['/customers/', IconUsers],
  ['/shop/orders/', IconReceipt],
] as const

/** Without the pages of operators for a user who is none any more. */
export function useRecentEntries(user: User | undefined): Entry[] {
  return recents
    .use(user?.id ?? '')
    .filter(({ href }) => user?.is_superuser || findPlace(href) !== 'run')
    .map(({ href, label, detail }) => ({
      id: `recent-${href}`,
      group: t('Recent'),
      label,
      detail,
      icon: ICONS.find(([base]) => href.startsWith(base))?.[1] ?? IconClock,
      href,
    }))
}

export function storeRecent(userId: string, { href, label, detail }: Entry & { href: string }) {
  const opened = { href, label, ...(detail && { detail }) }
  recents.update(userId, (stored) => [opened, ...stored.filter((one) => one.href !== href)])
}
