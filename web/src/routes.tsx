// The app's routes. Pages load on demand, so that the first one is small. Search parameters are
// parsed here, because anyone can write a link.
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { USER_APP_PATHS } from '#app/user-app-paths.ts'
import { createOfflineProblem } from './api/problem.ts'
import type {
  AllUsageGrouping,
  InvoiceStatus,
  MetricInterval,
  MovementType,
  SubscriptionChangeKind,
  SubscriptionStatus,
  UsageOutcome,
} from './api/types.ts'
import { session } from './session/browser-session.ts'
import { parseReturnPath } from './session/return-path.ts'
import { ErrorPage } from './shell/error-page.tsx'
import { Root } from './shell/root.tsx'
import type { OrderStatus } from './shop/order-status.tsx'

type UserAppPath = (typeof USER_APP_PATHS)[number]

const NotFound = lazyPage(() => import('./shell/not-found.tsx'), 'NotFound')

const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: ErrorPage,
})

const publicLayout = createRoute({
  getParentRoute: () => root,
  id: 'public',
  component: lazyPage(() => import('./shell/public-layout.tsx'), 'PublicLayout'),
})

const appLayout = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: lazyPage(() => import('./shell/app-layout.tsx'), 'AppLayout'),
  beforeLoad: ({ location }) => {
    if (!session.isSignedIn()) throw redirect({ to: '/login', search: { redirect: location.href } })
  },
})

const runLayout = createRoute({
  getParentRoute: () => appLayout,
  id: 'run',
  component: lazyPage(() => import('./run/run-layout.tsx'), 'RunLayout'),
})

const shopLayout = createRoute({
  getParentRoute: () => appLayout,
  id: 'desk',
  component: lazyPage(() => import('./shop/shop-layout.tsx'), 'ShopLayout'),
})

const parseLogin = parseSearch({ redirect: parseText, error: parseText, challenge: parseText })
const parseQuestion = parseSearch({ q: parseText })
const parseRegistration = parseSearch({
  redirect: parseText,
  email: parseText,
  invitation: parseText,
})
const token = { token: parseText }
const passage = { chunk: parseNumber(0, 1_000_000_000), page: parseNumber(1, 1_000_000) }

const inPublic = declarePages(publicLayout)
const publicPages = [
  inPublic('/', () => import('./home/home-page.tsx'), 'HomePage'),
  inPublic('/pricing', () => import('./pricing/pricing-page.tsx'), 'PricingPage', {
    canceled: parseTrue,
    code: parseText,
    period: parseChoice('yearly'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/register',
    validateSearch: parseRegistration,
    beforeLoad: ({ search }) => {
      if (session.isSignedIn()) throw redirect({ href: parseReturnPath(search.redirect) })
    },
    component: lazyPage(() => import('./register/register-page.tsx'), 'RegisterPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/login',
    validateSearch: parseLogin,
    beforeLoad: ({ search }) => {
      // A signed-in user returning from a provider sees the result on that page.
      if (session.isSignedIn() && !search.challenge && !search.error)
        throw redirect({ href: parseReturnPath(search.redirect) })
    },
    component: lazyPage(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
  }),
  inPublic('/auth/callback', () => import('./sign-in/callback-page.tsx'), 'CallbackPage', {
    error: parseText,
  }),
  inPublic(
    '/verify-email',
    () => import('./email/verify-email-page.tsx'),
    'VerifyEmailPage',
    token,
  ),
  inPublic(
    '/unsubscribe',
    () => import('./billing/unsubscribe-page.tsx'),
    'UnsubscribePage',
    token,
  ),
  inPublic(
    '/undo-email-change',
    () => import('./email/undo-email-change-page.tsx'),
    'UndoEmailChangePage',
    token,
  ),
  inPublic(
    '/forgot-password',
    () => import('./password/forgot-password-page.tsx'),
    'ForgotPasswordPage',
  ),
  inPublic('/errors', () => import('./errors/errors-page.tsx'), 'ErrorsPage'),
  inPublic('/reference', () => import('./reference/reference-page.tsx'), 'ReferencePage'),
  inPublic(
    '/reference/$operation',
    () => import('./reference/operation-page.tsx'),
    'OperationPage',
  ),
  inPublic('/s/$token', () => import('./conversations/pages/shared-page.tsx'), 'SharedPage'),
  inPublic(
    '/reset-password',
    () => import('./password/reset-password-page.tsx'),
    'ResetPasswordPage',
    token,
  ),
] as const

const inApp = declarePages(appLayout)
const appPages = [
  inApp('/dashboard', () => import('./overview/overview-page.tsx'), 'OverviewPage', {
    success: parseTrue,
  }),
  inApp('/home', () => import('./conversations/pages/home-page.tsx'), 'HomePage', {
    temporary: parseTrue,
    document: parseText,
    collection: parseText,
    q: parseText,
  }),
  inApp('/c/$id', () => import('./conversations/pages/conversation-page.tsx'), 'ConversationPage', {
    source: parseText,
  }),
  inApp('/library', () => import('./library/library-page.tsx'), 'LibraryPage', {
    collection: parseText,
    sort: parseChoice('date', 'name', 'size'),
    q: parseText,
  }),
  inApp('/library/$id', () => import('./library/file-page.tsx'), 'FilePage', passage),
  inApp('/storefront', () => import('./sign-in/storefront-page.tsx'), 'StorefrontPage', {
    state: parseText,
    continue: parseTrue,
  }),
  inApp('/api-keys', () => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  inApp('/build', () => import('./build/build-page.tsx'), 'BuildPage'),
  inApp('/models', () => import('./build/models-page.tsx'), 'ModelsPage', {
    q: parseText,
    vendor: parseText,
    can: parseText,
    order: parseText,
    mine: parseTrue,
  }),
  inApp('/playground', () => import('./playground/playground-page.tsx'), 'PlaygroundPage', {
    model: parseText,
    call: parseText,
    view: parseChoice('code', 'events'),
  }),
  inApp('/usage', () => import('./usage/usage-page.tsx'), 'UsagePage', {
    days: parseDays(7, 90),
    group_by: parseChoice('model', 'key', 'end_user', 'vendor', 'outcome'),
    view: parseChoice('table'),
    measure: parseChoice('requests', 'cost'),
  }),
  inApp('/calls', () => import('./calls/calls-page.tsx'), 'CallsPage', {
    days: parseDays(1, 30, 90),
    outcome: parseChoice('ok', 'failed', 'cancelled'),
    model: parseText,
    key: parseText,
    q: parseText,
  }),
  inApp('/billing', () => import('./billing/billing-page.tsx'), 'BillingPage'),
  inApp('/account', () => import('./account/account-page.tsx'), 'AccountPage', {
    tab: parseChoice('security', 'sessions', 'data'),
    linked: parseText,
    error: parseText,
  }),
  // Addresses of earlier versions.
  createRoute({
    getParentRoute: () => appLayout,
    path: '/chat',
    beforeLoad: createRedirect('/home'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/ask',
    beforeLoad: createRedirect('/home'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/admin',
    beforeLoad: createRedirect('/run/today'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/documents',
    validateSearch: parseQuestion,
    beforeLoad: ({ search: { q } }): void => {
      throw redirect({ to: '/library', search: { q } })
    },
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/documents/$id',
    validateSearch: parseSearch(passage),
    beforeLoad: ({ params, search, location: { hash } }): void => {
      throw redirect({ to: '/library/$id', params, search, hash })
    },
  }),
] as const

// The service checks the filters of these pages: this file loads with every page.
const inRun = declarePages(runLayout)
const runPages = [
  inRun('/run/setup', () => import('./setup/setup-page.tsx'), 'SetupPage'),
  inRun('/run/brand', () => import('./brand/brand-page.tsx'), 'BrandPage'),
  inRun('/run/models', () => import('./models/models-page.tsx'), 'ModelsPage', {
    q: parseText,
    vendor: parseText,
  }),
  inRun('/run/today', () => import('./money/today-page.tsx'), 'TodayPage'),
  inRun('/run/money', () => import('./money/money-page.tsx'), 'MoneyPage', {
    view: parseText<
      'movements' | 'invoices' | 'changes' | 'usage' | 'calls' | 'documents' | 'processor'
    >,
    days: parseNumber(1, 365),
    interval: parseText<MetricInterval>,
    metric: parseText,
    type: parseText<MovementType>,
    kind: parseText<SubscriptionChangeKind>,
    status: parseText<InvoiceStatus>,
    group_by: parseText<AllUsageGrouping>,
    outcome: parseText<UsageOutcome>,
  }),
  inRun('/run/catalogue', () => import('./run/service-pages.ts'), 'CataloguePage'),
  inRun('/run/health', () => import('./run/service-pages.ts'), 'HealthPage'),
  inRun('/run/activity', () => import('./run/service-pages.ts'), 'ActivityPage', {
    view: parseText<'jobs' | 'emails' | 'events'>,
    user: parseText,
    action: parseText,
    state: parseText<'waiting' | 'sent' | 'failed'>,
    open: parseTrue,
    page: parseNumber(1, 1_000_000),
  }),
  inRun('/customers/invitations', () => import('./run/service-pages.ts'), 'InvitationsPage'),
  inRun('/customers', () => import('./customers/customers-page.tsx'), 'CustomersPage', {
    q: parseText,
    plan: parseText,
    status: parseText<SubscriptionStatus>,
    page: parseNumber(1, 1_000_000),
  }),
  inRun('/customers/$id', () => import('./customers/customer-page.tsx'), 'CustomerPage', {
    about: parseText<'money' | 'account' | 'calls'>,
  }),
  inRun(
    '/run/time-machine',
    () => import('./time-machine/time-machine-page.tsx'),
    'TimeMachinePage',
  ),
] as const

const inShop = declarePages(shopLayout)
const shopPages = [
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop',
    beforeLoad: createRedirect('/shop/orders'),
  }),
  inShop('/shop/orders', () => import('./shop/orders-page.tsx'), 'OrdersPage', {
    q: parseText,
    status: parseText<OrderStatus>,
    product: parseText,
  }),
  inShop('/shop/orders/$id', () => import('./shop/order-page.tsx'), 'OrderPage'),
  inShop('/shop/products', () => import('./shop/products-page.tsx'), 'ProductsPage'),
  inShop('/shop/products/new', () => import('./shop/new-product-page.tsx'), 'NewProductPage'),
  inShop('/shop/products/$tier', () => import('./shop/product-page.tsx'), 'ProductPage'),
  inShop('/shop/discounts', () => import('./shop/discounts-page.tsx'), 'DiscountsPage'),
  inShop('/shop/inbox', () => import('./shop/inbox-page.tsx'), 'InboxPage', {
    closed: parseTrue,
    message: parseText,
  }),
  inShop('/shop/disputes', () => import('./shop/disputes-page.tsx'), 'DisputesPage', {
    open: parseTrue,
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren([
    publicLayout.addChildren(publicPages),
    appLayout.addChildren([
      ...appPages,
      runLayout.addChildren(runPages),
      shopLayout.addChildren(shopPages),
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotFound,
  notFoundMode: 'root',
  scrollRestoration: true,
  // Plain text both ways. The router would parse values as JSON and turn a token of digits into a
  // number.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch: (search) => {
    const filled = Object.entries(search).filter(([, value]) => value !== undefined)
    return filled.length === 0
      ? ''
      : `?${new URLSearchParams(filled.map(([name, value]) => [name, String(value)]))}`
  },
})

type Unlisted = Exclude<keyof typeof router.routesByPath, UserAppPath>
// The service answers 404 for pages that its list lacks, so a page without an entry must not
// compile.
null satisfies [Unlisted] extends [never] ? null : Unlisted

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Returns a function that creates the routes of a layout's pages. */
function declarePages<L extends AnyRoute>(layout: L) {
  return <
    const Path extends string,
    Module extends Record<string, ComponentType>,
    Name extends keyof Module,
    P extends Parsers = Record<never, never>,
  >(
    path: Path,
    load: () => Promise<Module>,
    name: Name,
    parsers?: P,
  ) =>
    createRoute({
      getParentRoute: () => layout,
      path,
      validateSearch: parseSearch(parsers ?? ({} as P)),
      component: lazyPage(load, name),
    })
}

/**
 * Loads a page's component on demand. The router reloads the tab when a file is missing, as after
 * a release. Offline, that would show the browser's error page, so the failure becomes a network
 * error instead.
 */
function lazyPage<T extends Record<string, ComponentType>, K extends keyof T>(
  load: () => Promise<T>,
  name: K,
) {
  return lazyRouteComponent(
    () =>
      load().catch((error: unknown) => {
        throw navigator.onLine ? error : createOfflineProblem()
      }),
    name,
  )
}

function createRedirect(to: '/home' | '/run/today' | '/shop/orders') {
  return (): void => {
    throw redirect({ to })
  }
}

/** One parser for each search parameter. Undefined values leave the address. */
type Parsers = Record<string, (value: unknown) => unknown>

function parseSearch<P extends Parsers>(parsers: P) {
  return (search: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(parsers).map(([name, parse]) => [name, parse(search[name])]),
    ) as { [Name in keyof P]?: ReturnType<P[Name]> }
}

function parseText<T extends string = string>(value: unknown): T | undefined {
  return typeof value === 'string' && value !== '' ? (value as T) : undefined
}

function parseTrue(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined
}

function parseNumber(least: number, most: number) {
  return (value: unknown): number | undefined => {
    const n = value === undefined || value === '' ? Number.NaN : Number(value)
    return n >= least && n <= most ? n : undefined
  }
}

function parseDays<const T extends number>(...allowed: T[]) {
  return (value: unknown) => allowed.find((days) => days === Number(value))
}

function parseChoice<const T extends string>(...allowed: T[]) {
  return (value: unknown) => allowed.find((one) => one === value)
}
