import { IconLogout, IconSearch, IconUserCircle, IconX } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { User } from '../api/types.ts'
import { BRAND } from '../components/brand.ts'
import { useColorSchemeItems } from '../components/color-scheme.tsx'
import { DropMenu } from '../components/drop-menu.tsx'
import { Wordmark } from '../components/logo.tsx'
import { ConversationSidebar } from '../conversations/sidebar/sidebar.tsx'
import { useSignOut } from '../session/sign-out.ts'
import { UserContext } from '../session/user.ts'
import { listGroups, type NavItem, WORK } from './navigation.ts'
import { openPalette } from './palette-events.ts'
import classes from './side-menu.module.css'

type SideMenuProps = {
  user: User | undefined
  /** On a phone, where the menu lies over the page. */
  isOpen: boolean
  onClose: () => void
}

export function SideMenu({ user, isOpen, onClose }: SideMenuProps) {
  const menu = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    menu.current?.querySelector('button')?.focus()
    const leave = (event: KeyboardEvent) => event.key === 'Escape' && onClose()
    document.addEventListener('keydown', leave)
    return () => document.removeEventListener('keydown', leave)
  }, [isOpen, onClose])

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the menu closes it, as its button and Escape do. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above. */}
      {isOpen && <div className={classes.shade} onClick={onClose} />}
      <nav ref={menu} aria-label="Main" className={classes.menu} data-open={isOpen || undefined}>
        <div className={classes.top}>
          <Link to="/home" className={classes.home} aria-label={`${BRAND}, home`}>
            <Wordmark />
          </Link>
          <button type="button" className={classes.close} aria-label="Close menu" onClick={onClose}>
            <IconX size={20} aria-hidden />
          </button>
        </div>
        <div className={classes.list}>
          <button type="button" className={classes.item} onClick={openPalette}>
            <IconSearch size={18} stroke={1.6} aria-hidden />
            <span>Search</span>
            <kbd>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
          <Group title="" items={WORK} />
          {user && (
            <UserContext value={user}>
              <ConversationSidebar />
            </UserContext>
          )}
          {listGroups(user?.is_superuser === true).map(({ title, items }) => (
            <Group key={title} title={title} items={items} />
          ))}
        </div>
        {user && <Account user={user} />}
      </nav>
    </>
  )
}

function Group({ title, items }: { title: string; items: readonly NavItem[] }) {
  return (
    <>
      {title && <div className={classes.title}>{title}</div>}
      {items.map(({ to, label, icon: Glyph }) => (
        <Link key={to} to={to} className={classes.item} activeProps={{ 'aria-current': 'page' }}>
          <Glyph size={18} stroke={1.6} aria-hidden />
          <span>{label}</span>
        </Link>
      ))}
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
      <DropMenu
        label={`Account of ${name}`}
        above
        title={user.email}
        buttonClass={classes.user}
        button={
          <>
            {/* By the style sheet, because screen readers would read the initials as a word. */}
            <span className={classes.avatar} data-initials={readInitials(name)}>
              {user.avatar_url && <img src={user.avatar_url} alt="" />}
            </span>
            <span className={classes.name}>{name}</span>
          </>
        }
        groups={[
          [
            {
              label: 'Account',
              icon: IconUserCircle,
              onSelect: () => void navigate({ to: '/account' }),
            },
          ],
          colors,
          [{ label: 'Sign out', icon: IconLogout, onSelect: () => void signOut() }],
        ]}
      />
    </div>
  )
}

function readInitials(name: string): string {
  const words = name.split(/[\s@.]+/)
  return `${words[0]?.[0] ?? ''}${name.includes('@') ? '' : (words[1]?.[0] ?? '')}`.toUpperCase()
}
