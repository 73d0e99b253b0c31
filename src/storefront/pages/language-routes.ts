/** Switches the language of the shop: for this browser, and for the account of a signed-in user. */
import { updateUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import { LANGUAGE_COOKIE } from '#platform/http/request-locale.ts'
import { isLocale } from '#platform/locale.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'

const YEAR_S = 365 * 24 * 3600

export function languageRoutes(app: App, deps: SessionDeps): void {
  const { config, db, clock } = deps
  app.post(
    '/language',
    { config: { access: 'anyone', limit: 'general' } },
    async (request, reply) => {
      const { lang } = (request.body ?? {}) as { lang?: unknown }
      const target = readPage(request.headers.referer, config.urls.storefront)
      if (!isLocale(lang)) return reply.redirect(target, 303)
      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      if (caller)
        await transaction(db, (tx) => updateUser(tx, caller.userId, { locale: lang }, clock.now()))
      reply.setCookie(LANGUAGE_COOKIE, lang, {
        path: '/',
        httpOnly: true,
        secure: config.urls.storefront.startsWith('https:'),
        sameSite: 'lax',
        maxAge: YEAR_S,
      })
      return reply.redirect(target, 303)
    },
  )
}

/** Returns the page of this shop that sent the form, without its `lang`; otherwise the home page. */
function readPage(referrer: string | undefined, storefront: string): string {
  const url = URL.parse(referrer ?? '')
  if (url?.origin !== new URL(storefront).origin) return '/'
  url.searchParams.delete('lang')
  // Two slashes would lead to another host.
  return url.pathname.replace(/^\/+/, '/') + url.search
}
