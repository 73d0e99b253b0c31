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
import { t } from '../../language/text.ts'
import { useSignOut } from '../../session/sign-out.ts'
import { canConverse } from '../../session/user.ts'
import { BUILD } from '../build-pages.ts'
import { type NavItem, OWN, type PlaceName, SEARCH, WORK } from '../navigation.ts'
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
  const isConversing = user === undefined || canConverse(user)
  const has = (place: PlaceName) => places.some(({ name }) => name === place)
  return [
    ...listPages(t('Home'), [...(isConversing ? WORK : SEARCH), ...OWN, ACCOUNT]),
    ...(has('build') ? listPages(t('Build'), BUILD) : []),
    ...(has('run')
      ? listPages(t('Run'), [...RUN, ...RUN_PARTS, ...(isSandboxed ? [TIME_MACHINE] : [])])
      : []),
    ...(isConversing ? [TEMPORARY] : []),
    ...(has('run') ? [NEW_PRODUCT] : []),
    PRICING,
    ...themes,
    {
      id: 'keys',
      group: t('Actions'),
      label: t('Keyboard shortcuts'),
      icon: IconKeyboard,
      run: openKeys,
    },
    {
      id: 'sign-out',
      group: t('Actions'),
      label: t('Sign out'),
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
      group: t('Build'),
      label: t('Find the call with this request ID'),
      icon: IconListSearch,
      href: `/calls?days=90&q=${typed}`,
    },
  ]
}

const ACCOUNT: NavItem = { to: '/account', label: t('Account'), icon: IconUserCircle }

const ABOUT: { [path in NavItem['to']]?: string } = {
  '/home': t('Ask a model or your documents'),
  '/library': t('Your files and collections'),
  '/dashboard': t('What is new, and what is left'),
  '/billing': t('Plan, invoices, card'),
  '/account': t('Profile, security, data'),
}

const PRICING: Entry = {
  id: 'pricing',
  group: t('Actions'),
  label: t('Plans and prices'),
  icon: IconReceipt,
  href: '/pricing',
}

const TEMPORARY: Entry = {
  id: 'temporary',
  group: t('Actions'),
  label: t('New temporary conversation'),
  icon: IconPencilPlus,
  href: '/home?temporary=true',
}

const NEW_PRODUCT: Entry = {
  id: 'new-product',
  group: t('Actions'),
  label: t('New product'),
  icon: IconPlus,
  href: '/shop/products/new',
}

const VISITOR: Entry[] = [
  { id: 'home', group: t('Pages'), label: t('Home'), icon: IconHome, href: '/' },
  { id: 'login', group: t('Pages'), label: t('Sign in'), icon: IconLogin, href: '/login' },
  {
    id: 'register',
    group: t('Pages'),
    label: t('Create an account'),
    icon: IconUserPlus,
    href: '/register',
  },
  { ...PRICING, group: t('Pages') },
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
    ['light', t('Light theme'), IconSun],
    ['dark', t('Dark theme'), IconMoon],
    ['auto', t('System theme'), IconDeviceDesktop],
  ] as const
  return themes.map(([value, label, icon]) => ({
    id: `theme-${value}`,
    group: t('Actions'),
    label,
    icon,
    run: () => setColorScheme(value),
  }))
}
