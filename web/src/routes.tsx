// The app's routes. Pages load on demand, so that the first one is small. Search parameters are
// validated here, because anyone can write a link.
import {
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
import type { ModelSearch } from './build/model-filter.ts'
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

const publicPages = [
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/',
    component: lazyPage(() => import('./home/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/pricing',
    validateSearch: (
      search,
    ): {
      canceled?: true | undefined
      period?: 'yearly' | undefined
      code?: string | undefined
    } => ({
      canceled: parseTrue(search.canceled),
      code: parseText(search.code),
      period: search.period === 'yearly' ? 'yearly' : undefined,
    }),
    component: lazyPage(() => import('./pricing/pricing-page.tsx'), 'PricingPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/register',
    validateSearch: (
      search,
    ): {
      redirect?: string | undefined
      email?: string | undefined
      invitation?: string | undefined
    } => ({
      redirect: parseText(search.redirect),
      email: parseText(search.email),
      invitation: parseText(search.invitation),
    }),
    beforeLoad: ({ search }) => {
      if (session.isSignedIn()) throw redirect({ href: parseReturnPath(search.redirect) })
    },
    component: lazyPage(() => import('./register/register-page.tsx'), 'RegisterPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/login',
    validateSearch: (
      search,
    ): {
      redirect?: string | undefined
      error?: string | undefined
      challenge?: string | undefined
    } => ({
      redirect: parseText(search.redirect),
      error: parseText(search.error),
      challenge: parseText(search.challenge),
    }),
    beforeLoad: ({ search }) => {
      // A signed-in user returning from a provider sees the result on that page.
      if (session.isSignedIn() && !search.challenge && !search.error)
        throw redirect({ href: parseReturnPath(search.redirect) })
    },
    component: lazyPage(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/auth/callback',
    validateSearch: (search): { error?: string | undefined } => ({
      error: parseText(search.error),
    }),
    component: lazyPage(() => import('./sign-in/callback-page.tsx'), 'CallbackPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/verify-email',
    validateSearch: parseToken,
    component: lazyPage(() => import('./email/verify-email-page.tsx'), 'VerifyEmailPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/unsubscribe',
    validateSearch: parseToken,
    component: lazyPage(() => import('./billing/unsubscribe-page.tsx'), 'UnsubscribePage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/undo-email-change',
    validateSearch: parseToken,
    component: lazyPage(() => import('./email/undo-email-change-page.tsx'), 'UndoEmailChangePage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/forgot-password',
    component: lazyPage(() => import('./password/forgot-password-page.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/errors',
    component: lazyPage(() => import('./errors/errors-page.tsx'), 'ErrorsPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/reference',
    component: lazyPage(() => import('./reference/reference-page.tsx'), 'ReferencePage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/reference/$operation',
    component: lazyPage(() => import('./reference/operation-page.tsx'), 'OperationPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/s/$token',
    component: lazyPage(() => import('./conversations/pages/shared-page.tsx'), 'SharedPage'),
  }),
  createRoute({
    getParentRoute: () => publicLayout,
    path: '/reset-password',
    validateSearch: parseToken,
    component: lazyPage(() => import('./password/reset-password-page.tsx'), 'ResetPasswordPage'),
  }),
] as const

const appPages = [
  createRoute({
    getParentRoute: () => appLayout,
    path: '/dashboard',
    validateSearch: (search): { success?: true | undefined } => ({
      success: parseTrue(search.success),
    }),
    component: lazyPage(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/home',
    validateSearch: (
      search,
    ): {
      temporary?: true | undefined
      document?: string | undefined
      collection?: string | undefined
      q?: string | undefined
    } => ({
      temporary: parseTrue(search.temporary),
      document: parseText(search.document),
      collection: parseText(search.collection),
      q: parseText(search.q),
    }),
    component: lazyPage(() => import('./conversations/pages/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/c/$id',
    validateSearch: (search): { source?: string | undefined } => ({
      source: parseText(search.source),
    }),
    component: lazyPage(
      () => import('./conversations/pages/conversation-page.tsx'),
      'ConversationPage',
    ),
  }),
  // Chat and Ask were pages of earlier versions.
  createRoute({ getParentRoute: () => appLayout, path: '/chat', beforeLoad: redirectHome }),
  createRoute({ getParentRoute: () => appLayout, path: '/ask', beforeLoad: redirectHome }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/library',
    validateSearch: (
      search,
    ): {
      collection?: string | undefined
      sort?: 'date' | 'name' | 'size' | undefined
      q?: string | undefined
    } => ({
      collection: parseText(search.collection),
      sort: parseChoice(search.sort, ['name', 'size']),
      q: parseText(search.q),
    }),
    component: lazyPage(() => import('./library/library-page.tsx'), 'LibraryPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/library/$id',
    validateSearch: parsePassage,
    component: lazyPage(() => import('./library/file-page.tsx'), 'FilePage'),
  }),
  // The library's addresses of earlier versions.
  createRoute({
    getParentRoute: () => appLayout,
    path: '/documents',
    validateSearch: (search): { q?: string | undefined } => ({ q: parseText(search.q) }),
    beforeLoad: ({ search: { q } }): void => {
      throw redirect({ to: '/library', search: { q }, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/documents/$id',
    validateSearch: parsePassage,
    beforeLoad: ({ params, search, location: { hash } }): void => {
      throw redirect({ to: '/library/$id', params, search, hash, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/storefront',
    validateSearch: (search): { state: string; continue?: true | undefined } => ({
      state: parseText(search.state) ?? '',
      continue: parseTrue(search.continue),
    }),
    component: lazyPage(() => import('./sign-in/storefront-page.tsx'), 'StorefrontPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/api-keys',
    component: lazyPage(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/build',
    component: lazyPage(() => import('./build/build-page.tsx'), 'BuildPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/models',
    validateSearch: (search): ModelSearch => search,
    component: lazyPage(() => import('./build/models-page.tsx'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/playground',
    validateSearch: (
      search,
    ): {
      model?: string | undefined
      view?: 'code' | 'events' | undefined
      call?: string | undefined
    } => ({
      model: parseText(search.model),
      call: parseText(search.call),
      view: parseChoice(search.view, ['code', 'events']),
    }),
    component: lazyPage(() => import('./playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/usage',
    validateSearch: (
      search,
    ): {
      days?: 7 | 90 | undefined
      group_by?: 'model' | 'key' | 'end_user' | 'vendor' | 'outcome' | undefined
      view?: 'table' | undefined
      measure?: 'requests' | 'cost' | undefined
    } => ({
      days: Number(search.days) === 7 ? 7 : Number(search.days) === 90 ? 90 : undefined,
      group_by: parseChoice(search.group_by, ['model', 'key', 'end_user', 'vendor', 'outcome']),
      view: parseChoice(search.view, ['table']),
      measure: parseChoice(search.measure, ['requests', 'cost']),
    }),
    component: lazyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/calls',
    validateSearch: (
      search,
    ): {
      days?: 1 | 30 | 90 | undefined
      outcome?: 'ok' | 'failed' | 'cancelled' | undefined
      model?: string | undefined
      key?: string | undefined
      q?: string | undefined
    } => ({
      days: [1, 30, 90].find((days): days is 1 | 30 | 90 => days === Number(search.days)),
      outcome: parseChoice(search.outcome, ['ok', 'failed', 'cancelled']),
      model: parseText(search.model),
      key: parseText(search.key),
      q: parseText(search.q),
    }),
    component: lazyPage(() => import('./calls/calls-page.tsx'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/billing',
    component: lazyPage(() => import('./billing/billing-page.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/account',
    validateSearch: (
      search,
    ): {
      tab?: 'security' | 'sessions' | 'data' | undefined
      linked?: string | undefined
      error?: string | undefined
    } => ({
      tab: parseChoice(search.tab, ['security', 'sessions', 'data']),
      linked: parseText(search.linked),
      error: parseText(search.error),
    }),
    component: lazyPage(() => import('./account/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => appLayout,
    path: '/admin',
    beforeLoad: (): void => {
      throw redirect({ to: '/run/today', replace: true })
    },
  }),
] as const

const runLayout = createRoute({
  getParentRoute: () => appLayout,
  id: 'run',
  component: lazyPage(() => import('./run/run-layout.tsx'), 'RunLayout'),
})

const runPages = [
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/setup',
    component: lazyPage(() => import('./setup/setup-page.tsx'), 'SetupPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/brand',
    component: lazyPage(() => import('./brand/brand-page.tsx'), 'BrandPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/models',
    validateSearch: passSearch<{ q?: string | undefined; vendor?: string | undefined }>,
    component: lazyPage(() => import('./models/models-page.tsx'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/today',
    component: lazyPage(() => import('./money/today-page.tsx'), 'TodayPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/money',
    validateSearch: passSearch<MoneySearch>,
    component: lazyPage(() => import('./money/money-page.tsx'), 'MoneyPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/catalogue',
    component: lazyPage(() => import('./run/service-pages.ts'), 'CataloguePage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/health',
    component: lazyPage(() => import('./run/service-pages.ts'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/activity',
    validateSearch: passSearch<ActivitySearch>,
    component: lazyPage(() => import('./run/service-pages.ts'), 'ActivityPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/customers/invitations',
    component: lazyPage(() => import('./run/service-pages.ts'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/customers',
    validateSearch: passSearch<CustomersSearch>,
    component: lazyPage(() => import('./customers/customers-page.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/customers/$id',
    validateSearch: passSearch<{ about?: 'money' | 'account' | 'calls' | undefined }>,
    component: lazyPage(() => import('./customers/customer-page.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute: () => runLayout,
    path: '/run/time-machine',
    component: lazyPage(() => import('./time-machine/time-machine-page.tsx'), 'TimeMachinePage'),
  }),
] as const

const shopLayout = createRoute({
  getParentRoute: () => appLayout,
  id: 'desk',
  component: lazyPage(() => import('./shop/shop-layout.tsx'), 'ShopLayout'),
})

const shopPages = [
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop',
    beforeLoad: (): void => {
      throw redirect({ to: '/shop/orders', replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/orders',
    validateSearch: passSearch<{
      q?: string | undefined
      status?: OrderStatus | undefined
      product?: string | undefined
    }>,
    component: lazyPage(() => import('./shop/orders-page.tsx'), 'OrdersPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/orders/$id',
    component: lazyPage(() => import('./shop/order-page.tsx'), 'OrderPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/products',
    component: lazyPage(() => import('./shop/products-page.tsx'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/products/new',
    component: lazyPage(() => import('./shop/new-product-page.tsx'), 'NewProductPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/products/$tier',
    component: lazyPage(() => import('./shop/product-page.tsx'), 'ProductPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/discounts',
    component: lazyPage(() => import('./shop/discounts-page.tsx'), 'DiscountsPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/inbox',
    validateSearch: (search): { closed?: true | undefined; message?: string | undefined } => ({
      closed: parseTrue(search.closed),
      message: parseText(search.message),
    }),
    component: lazyPage(() => import('./shop/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: () => shopLayout,
    path: '/shop/disputes',
    validateSearch: passSearch<{ open?: true | undefined }>,
    component: lazyPage(() => import('./shop/disputes-page.tsx'), 'DisputesPage'),
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

function redirectHome(): void {
  throw redirect({ to: '/home' })
}

type MoneySearch = {
  view?:
    | 'movements'
    | 'invoices'
    | 'changes'
    | 'usage'
    | 'calls'
    | 'documents'
    | 'processor'
    | undefined
  days?: number | undefined
  interval?: MetricInterval | undefined
  metric?: string | undefined
  type?: MovementType | undefined
  kind?: SubscriptionChangeKind | undefined
  status?: InvoiceStatus | undefined
  group_by?: AllUsageGrouping | undefined
  outcome?: UsageOutcome | undefined
}

type ActivitySearch = {
  view?: 'jobs' | 'emails' | 'events' | undefined
  user?: string | undefined
  action?: string | undefined
  state?: 'waiting' | 'sent' | 'failed' | undefined
  open?: true | undefined
  page?: number | undefined
}

type CustomersSearch = {
  q?: string | undefined
  plan?: string | undefined
  status?: SubscriptionStatus | undefined
  page?: number | undefined
}

/** Of pages of Run. The service checks the filters: this file loads with every page. */
function passSearch<T>({ days, page, open, ...search }: Record<string, unknown>): T {
  return {
    ...search,
    days: parseNumber(days, 1, 365),
    page: parseNumber(page, 1, 1_000_000),
    open: parseTrue(open),
  } as T
}

function parsePassage(search: Record<string, unknown>): {
  chunk?: number | undefined
  page?: number | undefined
} {
  return {
    chunk: parseNumber(search.chunk, 0, 1_000_000_000),
    page: parseNumber(search.page, 1, 1_000_000),
  }
}

function parseToken(search: Record<string, unknown>): { token?: string | undefined } {
  return { token: parseText(search.token) }
}

function parseText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parseTrue(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined
}

function parseNumber(value: unknown, least: number, most: number): number | undefined {
  const n = value === undefined || value === '' ? Number.NaN : Number(value)
  return n >= least && n <= most ? n : undefined
}

function parseChoice<const T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((one) => one === value)
}
