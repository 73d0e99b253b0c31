// The three places of the app and the pages of Home's side menu. Those of Build and Run are in
// build-pages.ts and run-pages.ts, which load in these places only.

import {
  type Icon,
  IconBriefcase,
  IconBuildingBank,
  IconCode,
  IconFiles,
  IconGauge,
  IconHome,
  IconPencilPlus,
} from '@tabler/icons-react'
import type { USER_APP_PATHS } from '#app/user-app-paths.ts'
import { t } from '../language/text.ts'

type PagePath = Exclude<(typeof USER_APP_PATHS)[number], `${string}$${string}` | '/storefront'>

/** `about` is for the palette. That of Home is there, to keep the first page light. */
export type NavItem = { to: PagePath; label: string; icon: Icon; about?: string }

/** An item of a menu, as one row of its list. */
export function listPage(to: PagePath, label: string, icon: Icon, about?: string): NavItem {
  return { to, label, icon, ...(about !== undefined && { about }) }
}

export type PlaceName = 'home' | 'build' | 'run'

export type Place = { name: PlaceName; to: PagePath; label: string; icon: Icon }

/** Each place with the page that it opens on. */
export const PLACES: readonly Place[] = [
  { name: 'home', to: '/home', label: t('Home'), icon: IconHome },
  { name: 'build', to: '/build', label: t('Build'), icon: IconCode },
  { name: 'run', to: '/run/today', label: t('Run'), icon: IconBriefcase },
]

export const WORK: readonly NavItem[] = [
  { to: '/home', label: t('New conversation'), icon: IconPencilPlus },
  { to: '/library', label: t('Library'), icon: IconFiles },
]

/** Instead of `WORK`, for plans without conversations. */
export const SEARCH: readonly NavItem[] = [
  { to: '/home', label: t('Search your files'), icon: IconHome, about: t('Passages in them') },
  { to: '/library', label: t('Library'), icon: IconFiles },
]

/** Below the conversations. */
export const OWN: readonly NavItem[] = [
  { to: '/dashboard', label: t('Overview'), icon: IconGauge },
  { to: '/billing', label: t('Plan'), icon: IconBuildingBank },
]

const BUILD_PATHS = [
  '/build',
  '/playground',
  '/api-keys',
  '/calls',
  '/usage',
  '/models',
  '/reference',
]
const RUN_PATHS = ['/run', '/customers', '/shop']

/** Returns the place of a page, or null for a page that belongs to every place. */
export function findPlace(path: string): PlaceName | null {
  const isBelow = (base: string) => path === base || path.startsWith(`${base}/`)
  if (isBelow('/account')) return null
  if (RUN_PATHS.some(isBelow)) return 'run'
  return BUILD_PATHS.some(isBelow) ? 'build' : 'home'
}
