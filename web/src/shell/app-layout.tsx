import '@mantine/notifications/styles.css'
import {
  ActionIcon,
  AppShell,
  Avatar,
  Burger,
  Group,
  Kbd,
  Menu,
  Skeleton,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import { IconLogout, IconReceipt, IconSearch, IconUserCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { userQuery } from '../api/queries.ts'
import type { User } from '../api/types.ts'
import { BRAND } from '../components/brand.ts'
import { ColorScheme } from '../components/color-scheme.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Wordmark } from '../components/logo.tsx'
import { FreshSignInDialog } from '../session/fresh-sign-in-dialog.tsx'
import { useSignOut } from '../session/sign-out.ts'
import { UserContext } from '../session/user.ts'
import { AllowanceBar } from './allowance-bar.tsx'
import classes from './app-layout.module.css'
import { useMainFocus } from './main-focus.ts'
import { ADMIN_NAV_ITEM, NAV_ITEMS } from './navigation.ts'
import { NavigationLink } from './navigation-link.tsx'
import { openPalette } from './palette-events.ts'
import { PaymentBar } from './payment-bar.tsx'
import { VerifyBar } from './verify-bar.tsx'

/** Layout of the pages behind the sign-in. Pages render after the user has loaded. */
export function AppLayout() {
  const [menuOpen, menu] = useDisclosure(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const user = useQuery(userQuery)
  const main = useMainFocus()

  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes because the path changed.
  useEffect(() => menu.close(), [path])

  return (
    <AppShell
      header={{ height: 64 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
      classNames={classes}
    >
      <Notifications position="bottom-right" limit={4} />
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap={4} wrap="nowrap">
            <Burger
              opened={menuOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              aria-label={menuOpen ? 'Close menu' : 'Open menu'}
              aria-expanded={menuOpen}
              className={classes.burger}
              size="sm"
            />
            <Link to="/dashboard" className={classes.home} aria-label={`${BRAND}, dashboard`}>
              <Wordmark />
            </Link>
          </Group>
          <Group gap={4} wrap="nowrap">
            <PaletteButton />
            <ColorScheme />
            {user.data && <UserMenu user={user.data} />}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Main">
        <NavItems superuser={user.data?.is_superuser === true} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} ref={main}>
        <Loaded query={user} skeleton={<PageSkeleton />}>
          {(data) => (
            <UserContext value={data}>
              {!data.is_verified && <VerifyBar email={data.email} />}
              {data.subscription_status === 'past_due' && <PaymentBar />}
              {data.entitlements.includes('ai') && <AllowanceBar />}
              <Outlet />
              <FreshSignInDialog user={data} />
            </UserContext>
          )}
        </Loaded>
      </AppShell.Main>
    </AppShell>
  )
}

function NavItems({ superuser }: { superuser: boolean }) {
  const items = superuser ? [...NAV_ITEMS, { ...ADMIN_NAV_ITEM, group: 'You' }] : NAV_ITEMS
  return items.map(({ to, label, icon: Glyph, group }, index) => (
    <NavigationLink
      key={to}
      to={to}
      label={label}
      leftSection={<Glyph size={20} stroke={1.6} aria-hidden />}
      className={classes.item ?? ''}
      activeProps={{ active: true, 'aria-current': 'page' }}
      mt={index > 0 && items[index - 1]?.group !== group ? 'md' : 2}
    />
  ))
}

function PaletteButton() {
  return (
    <>
      <UnstyledButton className={classes.search ?? ''} onClick={openPalette} visibleFrom="sm">
        <IconSearch size={16} aria-hidden />
        <span>Search…</span>
        <Kbd size="xs">{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</Kbd>
      </UnstyledButton>
      <ActionIcon onClick={openPalette} hiddenFrom="sm" aria-label="Search">
        <IconSearch size={20} stroke={1.6} aria-hidden />
      </ActionIcon>
    </>
  )
}

function UserMenu({ user }: { user: User }) {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const name = user.full_name ?? user.email
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.user ?? ''}>
          <Avatar src={user.avatar_url} name={name} color="pine" alt="" size={36} aria-hidden />
          <VisuallyHidden>Account of {name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate>
            {user.email}
          </Text>
        </Menu.Label>
        <Menu.Item
          leftSection={<IconUserCircle size={18} aria-hidden />}
          onClick={() => void navigate({ to: '/account' })}
        >
          Account
        </Menu.Item>
        <Menu.Item
          leftSection={<IconReceipt size={18} aria-hidden />}
          onClick={() => void navigate({ to: '/billing' })}
        >
          Billing
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={18} aria-hidden />}
          onClick={() => void signOut()}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function PageSkeleton() {
  return (
    <>
      <Skeleton h={40} w={260} mb="lg" />
      <Skeleton h={160} mb="md" />
      <Skeleton h={240} />
    </>
  )
}
