import '@mantine/spotlight/styles.layer.css'
import { useMantineColorScheme } from '@mantine/core'
import {
  openSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightProps,
} from '@mantine/spotlight'
import {
  IconHome,
  IconLogin,
  IconLogout,
  IconMoon,
  IconPlus,
  IconReceipt,
  IconSearch,
  IconSun,
  IconUserPlus,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { userQuery } from '../api/queries.ts'
import { useFoundConversations } from '../conversations/found-conversations.tsx'
import { useSignOut } from '../session/sign-out.ts'
import { useHasSession } from '../session/use-session.ts'
import { ACCOUNT, BUILD, OWN, WORK } from './navigation.ts'
import { RUN } from './run-pages.ts'

/** Command palette. Opens whenever `openCount` grows, including on the first render. */
export function Palette({ openCount }: { openCount: number }) {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const signedIn = useHasSession()
  const user = useQuery({ ...userQuery, enabled: signedIn })
  const { setColorScheme } = useMantineColorScheme()
  const [query, setQuery] = useState('')
  const conversations = useFoundConversations(query, signedIn)

  useEffect(() => {
    if (openCount > 0) openSpotlight()
  }, [openCount])

  const items = [...WORK, ...BUILD, ...(user.data?.is_superuser ? RUN : []), ...OWN, ACCOUNT]
  const pages: SpotlightActionData[] = items.map(({ to, label, about, icon: Glyph }) => ({
    id: to,
    label,
    description: about,
    leftSection: <Glyph size={20} stroke={1.6} aria-hidden />,
    onClick: () => void navigate({ to }),
  }))

  const actions: SpotlightActionData[] = [
    ...(signedIn
      ? [
          ...pages,
          action(
            'new-chat',
            'New conversation',
            IconPlus,
            () => void navigate({ to: '/home', search: {} }),
          ),
          action('sign-out', 'Sign out', IconLogout, () => void signOut()),
        ]
      : [
          action('home', 'Home', IconHome, () => void navigate({ to: '/' })),
          action('login', 'Sign in', IconLogin, () => void navigate({ to: '/login' })),
          action(
            'register',
            'Create an account',
            IconUserPlus,
            () => void navigate({ to: '/register' }),
          ),
        ]),
    action('pricing', 'Plans and prices', IconReceipt, () => void navigate({ to: '/pricing' })),
    action('light', 'Light theme', IconSun, () => setColorScheme('light')),
    action('dark', 'Dark theme', IconMoon, () => setColorScheme('dark')),
  ]

  return (
    <Spotlight
      actions={[{ group: CONVERSATIONS, actions: conversations }, ...actions]}
      query={query}
      onQueryChange={setQuery}
      filter={filterActions}
      shortcut={null}
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      nothingFound="No results"
      highlightQuery
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={20} aria-hidden />,
        placeholder: signedIn ? 'Search conversations and pages…' : 'Search…',
        'aria-label': 'Search',
      }}
    />
  )
}

const CONVERSATIONS = 'Conversations'

type Actions = SpotlightProps['actions']

/** The service has found the conversations; pages and commands match by their words. */
function filterActions(query: string, actions: Actions): Actions {
  const typed = query.trim().toLowerCase()
  return actions.filter((one) => {
    if ('actions' in one) return one.actions.length > 0
    return `${one.label} ${one.description ?? ''}`.toLowerCase().includes(typed)
  })
}

function action(
  id: string,
  label: string,
  Glyph: typeof IconHome,
  onClick: () => void,
): SpotlightActionData {
  return { id, label, leftSection: <Glyph size={20} stroke={1.6} aria-hidden />, onClick }
}
