import {
  IconLayoutSidebar,
  IconLogout,
  IconSearch,
  IconUserCircle,
  IconX,
} from '@tabler/icons-react'
import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useRef, useState } from 'react'
import type { User } from '../api/types.ts'
import { BRAND } from '../components/brand.ts'
import { useColorSchemeItems } from '../components/color-scheme.tsx'
import { lazyPart } from '../components/lazy-part.ts'
import { Wordmark } from '../components/logo.tsx'
import { Menu } from '../components/menu.tsx'
import { ConversationSidebar } from '../conversations/sidebar/sidebar.tsx'
import { t } from '../language/text.ts'
import { useSignOut } from '../session/sign-out.ts'
import { canConverse, UserContext } from '../session/user.ts'
import { MenuItems } from './menu-items.tsx'
import { findPlace, OWN, type PlaceName, SEARCH, WORK } from './navigation.ts'
import { onKeysOpen, openPalette } from './palette-events.ts'
import { PlaceSwitch } from './place-switch.tsx'
import { useShortcuts } from './shortcuts.ts'
import classes from './side-menu.module.css'
import { usePlaces } from './use-places.ts'

const KeysDialog = lazyPart(() => import('./keys-dialog.tsx'), 'KeysDialog')

const BuildMenu = lazyPart(() => import('./build-menu.tsx'), 'BuildMenu')

const RunMenu = lazyPart(() => import('./run-menu.tsx'), 'RunMenu')

type SideMenuProps = {
  user: User | undefined
  /** On a phone, where the menu lies over the page. */
  isOpen: boolean
  onClose: () => void
  /** The user changes the place, whose menu they then want to see. */
  onSwitch: () => void
}

export function SideMenu({ user, isOpen, onClose, onSwitch }: SideMenuProps) {
  const menu = useRef<HTMLElement>(null)
  const { isCollapsed, toggle } = useMenuState()
  const places = usePlaces(user)
  const place = usePlace()
  const [showsKeys, setShowsKeys] = useState(false)
  useShortcuts(places, toggle)
  useEffect(() => onKeysOpen(() => setShowsKeys(true)), [])
  useEffect(() => {
    if (!isOpen) return
    menu.current?.focus({ preventScroll: true })
    const leave = (event: KeyboardEvent) => event.key === 'Escape' && onClose()
    document.addEventListener('keydown', leave)
    return () => document.removeEventListener('keydown', leave)
  }, [isOpen, onClose])

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the menu closes it, as its button and Escape do. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above. */}
      {isOpen && <div className={classes.shade} onClick={onClose} />}
      <nav
        ref={menu}
        tabIndex={-1}
        aria-label={t('Main')}
        className={classes.menu}
        data-open={isOpen || undefined}
        data-collapsed={isCollapsed || undefined}
      >
        <div className={classes.top}>
          <Link to="/home" className={classes.home} aria-label={t('{0}, home', BRAND)}>
            <Wordmark />
          </Link>
          <button
            type="button"
            className={classes.close}
            aria-label={t('Close menu')}
            onClick={onClose}
          >
            <IconX size={20} aria-hidden />
          </button>
          <button
            type="button"
            className={classes.collapse}
            aria-label={isCollapsed ? t('Expand menu') : t('Collapse menu')}
            aria-expanded={!isCollapsed}
            onClick={toggle}
          >
            <IconLayoutSidebar size={18} stroke={1.6} aria-hidden />
          </button>
        </div>
        <PlaceSwitch places={places} current={place} onSwitch={onSwitch} />
        <div className={classes.list}>
          <button type="button" className={classes.item} title={t('Search')} onClick={openPalette}>
            <IconSearch size={18} stroke={1.6} aria-hidden />
            <span>{t('Search')}</span>
            <kbd>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
          <PlaceMenu place={place} user={user} onSelect={onClose} />
        </div>
        {user && <Account user={user} />}
      </nav>
      {showsKeys && (
        <Suspense>
          <KeysDialog places={places} onClose={() => setShowsKeys(false)} />
        </Suspense>
      )}
    </>
  )
}

/** Returns the place of the page. Pages of every place leave the menu as it was. */
function usePlace(): PlaceName {
  const found = useRouterState({ select: ({ location }) => findPlace(location.pathname) })
  const [last, setLast] = useState<PlaceName>(found ?? 'home')
  if (found !== null && found !== last) setLast(found)
  return found ?? last
}

type PlaceMenuProps = { place: PlaceName; user: User | undefined; onSelect: () => void }

function PlaceMenu({ place, user, onSelect }: PlaceMenuProps) {
  if (place === 'build')
    return (
      <Suspense>
        <BuildMenu onSelect={onSelect} />
      </Suspense>
    )
  if (place === 'run')
    return (
      user?.is_superuser && (
        <Suspense>
          <RunMenu onSelect={onSelect} />
        </Suspense>
      )
    )
  const isWithoutConversations = user !== undefined && !canConverse(user)
  return (
    <>
      <MenuItems items={isWithoutConversations ? SEARCH : WORK} onSelect={onSelect} />
      {user && !isWithoutConversations && (
        <UserContext value={user}>
          <div className={classes.conversations}>
            <ConversationSidebar />
          </div>
        </UserContext>
      )}
      <div className={classes.own}>
        <MenuItems items={OWN} onSelect={onSelect} />
      </div>
    </>
  )
}

function Account({ user }: { user: User }) {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const colors = useColorSchemeItems()
  const name = user.full_name ?? user.email
  return (
    <div className={classes.account}>
      <Menu
        label={t('Account of {0}', name)}
        title={user.email}
        button={(target) => (
          <button
            {...target}
            type="button"
            className={classes.user}
            aria-label={t('Account of {0}', name)}
          >
            {/* By the style sheet, because screen readers would read the initials as a word. */}
            <span className={classes.avatar} data-initials={readInitials(name)}>
              {user.avatar_url && <img src={user.avatar_url} alt="" />}
            </span>
            <span className={classes.name}>{name}</span>
          </button>
        )}
        groups={[
          [
            {
              label: t('Account'),
              icon: IconUserCircle,
              onSelect: () => void navigate({ to: '/account' }),
            },
          ],
          colors,
          [{ label: t('Sign out'), icon: IconLogout, onSelect: () => void signOut() }],
        ]}
      />
    </div>
  )
}

function readInitials(name: string): string {
  const words = name.split(/[\s@.]+/)
  return `${words[0]?.[0] ?? ''}${name.includes('@') ? '' : (words[1]?.[0] ?? '')}`.toUpperCase()
}

const KEY = 'latchkey.menu'

/** Whether the side menu shows icons only on a large screen. This browser remembers it. */
function useMenuState(): { isCollapsed: boolean; toggle: () => void } {
  const [isCollapsed, setIsCollapsed] = useState(readCollapsed)
  const toggle = useCallback(() => {
    setIsCollapsed((was) => {
      saveCollapsed(!was)
      return !was
    })
  }, [])
  return { isCollapsed, toggle }
}

function readCollapsed(): boolean {
  try {
    return localStorage.getItem(KEY) === 'collapsed'
  } catch {
    // Private windows may have no storage.
    return false
  }
}

function saveCollapsed(isCollapsed: boolean): void {
  try {
    if (isCollapsed) localStorage.setItem(KEY, 'collapsed')
    else localStorage.removeItem(KEY)
  } catch {
    // The menu is open again on the next visit.
  }
}
