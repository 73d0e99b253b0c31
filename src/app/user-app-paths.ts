/**
 * The addresses of the user app's pages; `$` stands for any one segment. web/src/routes.tsx has a
 * page for each.
 */
export const USER_APP_PATHS = [
  '/',
  '/pricing',
  '/register',
  '/login',
  '/auth/callback',
  '/verify-email',
  '/unsubscribe',
  '/undo-email-change',
  '/forgot-password',
  '/reset-password',
  '/errors',
  '/reference',
  '/reference/$operation',
  '/dashboard',
  '/home',
  '/c/$id',
  '/s/$token',
  '/chat',
  '/ask',
  '/library',
  '/library/$id',
  '/documents',
  '/documents/$id',
  '/storefront',
  '/api-keys',
  '/playground',
  '/usage',
  '/calls',
  '/billing',
  '/account',
  '/admin',
  '/run/today',
  '/run/money',
  '/run/activity',
  '/run/catalogue',
  '/run/health',
  '/run/time-machine',
  '/customers',
  '/customers/invitations',
  '/customers/$id',
  '/run/models',
  '/run/setup',
  '/run/brand',
  '/shop',
  '/shop/orders',
  '/shop/orders/$id',
  '/shop/products',
  '/shop/products/new',
  '/shop/products/$tier',
  '/shop/discounts',
  '/shop/inbox',
  '/shop/disputes',
] as const

const PATTERNS = USER_APP_PATHS.map(
  (path) => new RegExp(`^${path.replace(/\$\w+/, '[^/]+').replace(/\/$/, '')}/?$`, 'i'),
)

/**
 * Returns true when the app has a page at a path. Ignores case and a trailing slash, as the app's
 * router does.
 */
export function hasUserAppPage(path: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(path))
}
