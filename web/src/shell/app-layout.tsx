import { IconMenu2, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import {
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { userQuery } from '../api/queries.ts'
import { readinessQuery } from '../api/readiness.ts'
import type { User } from '../api/types.ts'
import { BRAND } from '../components/brand.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { Loaded } from '../components/loaded.tsx'
import { Wordmark } from '../components/logo.tsx'
import { Toasts } from '../components/toasts.tsx'
import { switchLanguage } from '../language/language.ts'
import { t } from '../language/text.ts'
import { freshSignIn } from '../session/fresh-sign-in.ts'
import { viewToken } from '../session/token-store.ts'
import { UserContext } from '../session/user.ts'
import { AllowanceBar } from './allowance-bar.tsx'
import classes from './app-layout.module.css'
import { useMainFocus } from './main-focus.ts'
import { openPalette } from './palette-events.ts'
import { SideMenu } from './side-menu.tsx'
import { VerifyBar } from './verify-bar.tsx'

const FreshSignInDialog = lazyPart(
  () => import('../session/fresh-sign-in-dialog.tsx'),
  'FreshSignInDialog',
)

const PaymentBar = lazyPart(() => import('./payment-bar.tsx'), 'PaymentBar')

/** Layout of the pages behind the sign-in. Pages render after the user has loaded. */
export function AppLayout() {
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const user = useQuery(userQuery)
  const isUnverified = user.data?.is_verified === false
  // The bar about an unverified address is higher in the sandbox; known late, it would move the page.
  const { isLoading } = useQuery({ ...readinessQuery, enabled: isUnverified })
  // Renders the page in small steps. In one step, it would block a phone for a third of a second.
  const shownUserId = useDeferredValue(isLoading ? undefined : user.data?.id)
  const main = useMainFocus()
  const opener = useRef<HTMLButtonElement>(null)

  const { locale } = user.data ?? {}
  useEffect(() => {
    // A superuser's view of an account keeps the superuser's language.
    if (locale && viewToken.read() === null) switchLanguage(locale)
  }, [locale])

  const closeMenu = useCallback(() => {
    setIsMenuOpen(false)
    opener.current?.focus()
  }, [])

  const staysOpen = useRef(false)
  const keepMenu = useCallback(() => {
    staysOpen.current = true
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes because the path changed.
  useEffect(() => {
    if (!staysOpen.current) setIsMenuOpen(false)
    staysOpen.current = false
  }, [path])

  return (
    <div className={classes.frame}>
      <header className={classes.header}>
        <button
          type="button"
          ref={opener}
          className={classes.icon}
          aria-label={t('Open menu')}
          aria-expanded={isMenuOpen}
          onClick={() => setIsMenuOpen(true)}
        >
          <IconMenu2 size={20} stroke={1.7} aria-hidden />
        </button>
        <Link to="/home" className={classes.home} aria-label={t('{0}, home', BRAND)}>
          <Wordmark />
        </Link>
        <button
          type="button"
          className={classes.icon}
          aria-label={t('Search')}
          onClick={openPalette}
        >
          <IconSearch size={20} stroke={1.7} aria-hidden />
        </button>
      </header>
      <SideMenu user={user.data} isOpen={isMenuOpen} onClose={closeMenu} onSwitch={keepMenu} />
      <main id="main" tabIndex={-1} ref={main} className={classes.main} inert={isMenuOpen}>
        <Loaded query={user} isReady={shownUserId === user.data?.id} skeleton={<PageSkeleton />}>
          {(data) => (
            <UserContext value={data}>
              {!data.is_verified && <VerifyBar email={data.email} />}
              {data.subscription_status === 'past_due' && (
                <Suspense>
                  <PaymentBar />
                </Suspense>
              )}
              {data.entitlements.includes('ai') && <AllowanceBar />}
              <Outlet />
              <FreshSignIn user={data} />
            </UserContext>
          )}
        </Loaded>
      </main>
      <Toasts />
    </div>
  )
}

/** The dialog loads when the service asks for a fresh sign-in. */
function FreshSignIn({ user }: { user: User }) {
  const isAsked = useSyncExternalStore(freshSignIn.subscribe, freshSignIn.isAsked)
  const [wasAsked, setWasAsked] = useState(isAsked)
  if (isAsked && !wasAsked) setWasAsked(true)
  return (
    wasAsked && (
      <Suspense>
        <FreshSignInDialog user={user} />
      </Suspense>
    )
  )
}

function PageSkeleton() {
  return (
    <div className={classes.skeleton}>
      <div />
      <div />
    </div>
  )
}
