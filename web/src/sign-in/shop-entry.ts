/**
 * The shop's sign-in page sends visitors to `/storefront?state=…&with=google`, which redirects those
 * who are not signed in to the sign-in page.
 */
const SHOP_METHODS = ['google', 'github', 'passkey'] as const
export type ShopMethod = (typeof SHOP_METHODS)[number]

const PAGE = '/storefront?'

/** Returns the sign-in method that the visitor chose in the shop. */
export function readShopMethod(redirect: string | undefined): ShopMethod | undefined {
  if (!redirect?.startsWith(PAGE)) return undefined
  const chosen = new URLSearchParams(redirect.slice(PAGE.length)).get('with')
  return SHOP_METHODS.find((method) => method === chosen)
}

/** Lets visitors who sign in on their way to the shop continue without another click. */
export function markSignedIn(redirect: string | undefined): string | undefined {
  if (!redirect?.startsWith(PAGE)) return redirect
  const query = new URLSearchParams(redirect.slice(PAGE.length))
  query.delete('with')
  query.set('continue', 'true')
  return PAGE + query
}
