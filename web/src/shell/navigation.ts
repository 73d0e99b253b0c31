// The three places of the app and the pages of their side menus. Run's pages are in run-pages.ts,
// which loads for superusers only.
import {
  type Icon,
  IconBook,
  IconBriefcase,
  IconBuildingBank,
  IconChartBar,
  IconCode,
  IconFiles,
  IconGauge,
  IconHome,
  IconKey,
  IconListDetails,
  IconPencilPlus,
  IconTerminal2,
  IconUserCircle,
} from '@tabler/icons-react'
import type { USER_APP_PATHS } from '#app/user-app-paths.ts'

type PagePath = Exclude<(typeof USER_APP_PATHS)[number], `${string}$${string}` | '/storefront'>

export type NavItem = { to: PagePath; label: string; icon: Icon; about: string }

export type PlaceName = 'home' | 'build' | 'run'

export type Place = { name: PlaceName; to: PagePath; label: string; icon: Icon }

/** Each place with the page that it opens on. */
export const PLACES: readonly Place[] = [
  { name: 'home', to: '/home', label: 'Home', icon: IconHome },
  { name: 'build', to: '/playground', label: 'Build', icon: IconCode },
  { name: 'run', to: '/run/today', label: 'Run', icon: IconBriefcase },
]

export const WORK: readonly NavItem[] = [
  {
    to: '/home',
    label: 'New conversation',
    icon: IconPencilPlus,
    about: 'Ask a model or your documents',
  },
  { to: '/library', label: 'Library', icon: IconFiles, about: 'Your files and collections' },
]

/** Below the conversations. */
export const OWN: readonly NavItem[] = [
  { to: '/dashboard', label: 'Overview', icon: IconGauge, about: 'What is new, and what is left' },
  { to: '/billing', label: 'Plan', icon: IconBuildingBank, about: 'Plan, invoices, card' },
]

export const BUILD: readonly NavItem[] = [
  {
    to: '/playground',
    label: 'Playground',
    icon: IconTerminal2,
    about: 'Try a model, copy the call as code',
  },
  { to: '/api-keys', label: 'API keys', icon: IconKey, about: 'Keys for your programs' },
  { to: '/calls', label: 'Calls', icon: IconListDetails, about: 'Details of every call' },
  { to: '/usage', label: 'Usage', icon: IconChartBar, about: 'Requests, tokens, cost' },
  {
    to: '/reference',
    label: 'API reference',
    icon: IconBook,
    about: 'Every operation, with examples',
  },
]

export const ACCOUNT: NavItem = {
  to: '/account',
  label: 'Account',
  icon: IconUserCircle,
  about: 'Profile, security, data',
}

const RUN_PATHS = ['/run', '/customers', '/shop', '/admin']

/** Returns the place of a page, or null for a page that belongs to every place. */
export function findPlace(path: string): PlaceName | null {
  const isBelow = (base: string) => path === base || path.startsWith(`${base}/`)
  if (isBelow(ACCOUNT.to)) return null
  if (RUN_PATHS.some(isBelow)) return 'run'
  return BUILD.some(({ to }) => isBelow(to)) ? 'build' : 'home'
}
