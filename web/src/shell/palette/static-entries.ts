import { useMantineColorScheme } from '@mantine/core'
import {
  IconDeviceDesktop,
  IconHome,
  IconKeyboard,
  IconListSearch,
  IconLogin,
  IconLogout,
  IconMoon,
  IconPencilPlus,
  IconPlus,
  IconReceipt,
  IconSun,
  IconUserCircle,
  IconUserPlus,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { readinessQuery } from '../../api/readiness.ts'
import type { User } from '../../api/types.ts'
import { useSignOut } from '../../session/sign-out.ts'
import { BUILD } from '../build-pages.ts'
import { type NavItem, OWN, type PlaceName, WORK } from '../navigation.ts'
import { openKeys } from '../palette-events.ts'
import { RUN, RUN_PARTS, TIME_MACHINE } from '../run-pages.ts'
import { usePlaces } from '../use-places.ts'
import type { Entry } from './entry.ts'

/** Pages and actions, which need no search by the service. */
export function useStaticEntries(user: User | undefined, isSignedIn: boolean): Entry[] {
  const themes = useThemes()
  const signOut = useSignOut()
  const places = usePlaces(user)
  const { data: readiness } = useQuery(readinessQuery)
  const isSandboxed = readiness?.billing === 'sandbox'
  if (!isSignedIn) return [...VISITOR, ...themes]
  const has = (place: PlaceName) => places.some(({ name }) => name === place)
  return [
    ...listPages('Home', [...WORK, ...OWN, ACCOUNT]),
    ...(has('build') ? listPages('Build', BUILD) : []),
    ...(has('run')
      ? listPages('Run', [...RUN, ...RUN_PARTS, ...(isSandboxed ? [TIME_MACHINE] : [])])
      : []),
    {
      id: 'temporary',
      group: 'Actions',
      label: 'New temporary conversation',
      icon: IconPencilPlus,
      href: '/home?temporary=true',
    },
    ...(has('run') ? [NEW_PRODUCT] : []),
    PRICING,
    ...themes,
    {
      id: 'keys',
      group: 'Actions',
      label: 'Keyboard shortcuts',
      icon: IconKeyboard,
      run: openKeys,
    },
    {
      id: 'sign-out',
      group: 'Actions',
      label: 'Sign out',
      icon: IconLogout,
      run: () => void signOut(),
    },
  ]
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Offers a typed request id to the user's own calls. */
export function listCallEntries(typed: string): Entry[] {
  if (!UUID.test(typed)) return []
  return [
    {
      id: 'call',
      group: 'Build',
      label: 'Find the call with this request ID',
      icon: IconListSearch,
      href: `/calls?days=90&q=${typed}`,
    },
  ]
}

const ACCOUNT: NavItem = { to: '/account', label: 'Account', icon: IconUserCircle }

const ABOUT: { [path in NavItem['to']]?: string } = {
  '/home': 'Ask a model or your documents',
  '/library': 'Your files and collections',
  '/dashboard': 'What is new, and what is left',
  '/billing': 'Plan, invoices, card',
  '/account': 'Profile, security, data',
}

const PRICING: Entry = {
  id: 'pricing',
  group: 'Actions',
  label: 'Plans and prices',
  icon: IconReceipt,
  href: '/pricing',
}

const NEW_PRODUCT: Entry = {
  id: 'new-product',
  group: 'Actions',
  label: 'New product',
  icon: IconPlus,
  href: '/shop/products/new',
}

const VISITOR: Entry[] = [
  { id: 'home', group: 'Pages', label: 'Home', icon: IconHome, href: '/' },
  { id: 'login', group: 'Pages', label: 'Sign in', icon: IconLogin, href: '/login' },
  {
    id: 'register',
    group: 'Pages',
    label: 'Create an account',
    icon: IconUserPlus,
    href: '/register',
  },
  { ...PRICING, group: 'Pages' },
]

function listPages(group: string, items: readonly NavItem[]): Entry[] {
  return items.map(({ to, label, about = ABOUT[to], icon }) => ({
    id: `page-${to}`,
    group,
    label,
    detail: about,
    icon,
    href: to,
  }))
}

function useThemes(): Entry[] {
  const { setColorScheme } = useMantineColorScheme()
  const themes = [
    ['light', 'Light theme', IconSun],
    ['dark', 'Dark theme', IconMoon],
    ['auto', 'System theme', IconDeviceDesktop],
  ] as const
  return themes.map(([value, label, icon]) => ({
    id: `theme-${value}`,
    group: 'Actions',
    label,
    icon,
    run: () => setColorScheme(value),
  }))
}
