// The three places of the app and the pages of their side menus. Run's pages are in run-pages.ts,
// which loads for superusers only.
import {
  type Icon,
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
} from '@tabler/icons-react'
import type { USER_APP_PATHS } from '#app/user-app-paths.ts'

type PagePath = Exclude<(typeof USER_APP_PATHS)[number], `${string}$${string}` | '/storefront'>

/** `about` is for the palette. That of Home and Build is there, to keep the first page light. */
export type NavItem = { to: PagePath; label: string; icon: Icon; about?: string }

export type PlaceName = 'home' | 'build' | 'run'

export type Place = { name: PlaceName; to: PagePath; label: string; icon: Icon }

/** Each place with the page that it opens on. */
export const PLACES: readonly Place[] = [
  { name: 'home', to: '/home', label: 'Home', icon: IconHome },
  { name: 'build', to: '/playground', label: 'Build', icon: IconCode },
  { name: 'run', to: '/run/today', label: 'Run', icon: IconBriefcase },
]

export const WORK: readonly NavItem[] = [
  { to: '/home', label: 'New conversation', icon: IconPencilPlus },
  { to: '/library', label: 'Library', icon: IconFiles },
]

/** Below the conversations. */
export const OWN: readonly NavItem[] = [
  { to: '/dashboard', label: 'Overview', icon: IconGauge },
  { to: '/billing', label: 'Plan', icon: IconBuildingBank },
]

export const BUILD: readonly NavItem[] = [
  { to: '/playground', label: 'Playground', icon: IconTerminal2 },
  { to: '/api-keys', label: 'API keys', icon: IconKey },
  { to: '/calls', label: 'Calls', icon: IconListDetails },
  { to: '/usage', label: 'Usage', icon: IconChartBar },
  { to: '/reference', label: 'API reference', icon: IconCode },
]

const RUN_PATHS = ['/run', '/customers', '/shop']

/** Returns the place of a page, or null for a page that belongs to every place. */
export function findPlace(path: string): PlaceName | null {
  const isBelow = (base: string) => path === base || path.startsWith(`${base}/`)
  if (isBelow('/account')) return null
  if (RUN_PATHS.some(isBelow)) return 'run'
  return BUILD.some(({ to }) => isBelow(to)) ? 'build' : 'home'
}
