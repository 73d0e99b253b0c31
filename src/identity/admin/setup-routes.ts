// The page behind the link that the first start prints. Plain HTML: it must work before anything else does.
import { Type } from 'typebox'
import Format from 'typebox/format'
import type { App } from '#platform/http/app.ts'
import { pageHeaders } from '#platform/http/headers.ts'
import { type Html, html, page } from '#platform/http/html.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import { originOf } from '../origin.ts'
import type { CredentialDeps } from '../sign-in/credentials.ts'
import { type SuperuserDeps, setUpSuperuser, setupIsOpen } from './superuser.ts'

const Query = Type.Object({ token: Type.Optional(Type.String({ maxLength: 512 })) })
const Form = Type.Object({
  token: Type.String({ maxLength: 512 }),
  email: Type.String({ maxLength: 320 }),
  password: Type.String({ maxLength: 1_024 }),
})

export function setupRoutes(app: App, deps: SuperuserDeps & CredentialDeps & Pick<Platform, 'log'>): void {
  app.register(async (scope) => {
    const setup = scope as unknown as App
    setup.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 8_192 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )

    setup.get(
      '/setup',
      { schema: { querystring: Query, hide: true } as object, config: { access: 'anyone' } },
      async (request, reply) => {
        const { token = '' } = request.query as { token?: string }
        const open = await setupIsOpen(deps, token)
        pageHeaders(reply)
        return open
          ? page(reply, formPage(token, '', null))
          : page(reply, notePage('This link was used or has expired', 'Restart the service for a new one.'), 400)
      },
    )

    setup.post(
      '/setup',
      { schema: { body: Form, hide: true } as object, config: { access: 'anyone' } },
      async (request, reply) => {
        const { token, email, password } = request.body as { token: string; email: string; password: string }
        pageHeaders(reply)
        if (!Format.Test('email', email))
          return page(reply, formPage(token, email, 'That is not an email address.'), 422)
        try {
          const user = await setUpSuperuser(deps, { token, email, password, origin: originOf(request) })
          return page(reply, donePage(user.email, `${deps.config.urls.frontend}/login`))
        } catch (error) {
          if (!(error instanceof Problem) || error.status >= 500) throw error
          const says = typeof error.detail === 'string' ? error.detail : error.detail.map(({ msg }) => msg).join('. ')
          return page(reply, formPage(token, email, says), error.status)
        }
      },
    )
  })
}

function formPage(token: string, email: string, problem: string | null): Html {
  return layout(
    'Become the superuser',
    html`<p>The superuser sees statistics and users, and switches accounts on and off. With an address that is registered already, its password is asked for.</p>
${problem && html`<p role="alert"><strong>${problem}</strong></p>`}
<form method="post" action="/setup"><input type="hidden" name="token" value="${token}">
<p><label>Email<br><input type="email" name="email" value="${email}" required autocomplete="username" autofocus></label></p>
<p><label>Password<br><input type="password" name="password" required minlength="8" maxlength="128" autocomplete="new-password"></label></p>
<p><button>Become the superuser</button></p></form>`,
  )
}

const donePage = (email: string, login: string) =>
  layout('Done', html`<p>${email} is the superuser now. The link is spent.</p><p><a href="${login}">Sign in</a></p>`)

const notePage = (title: string, text: string) => layout(title, html`<p>${text}</p>`)

const layout = (
  title: string,
  main: Html,
) => html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title>
<style>:root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1.25rem}input,button{font:inherit;box-sizing:border-box;width:100%;min-height:44px;padding:.5rem .75rem;border-radius:8px;border:1px solid #8a8f8c}button{background:#1f6f54;color:#fff;border:0;font-weight:600;cursor:pointer}:focus-visible{outline:3px solid #3b9f7d;outline-offset:2px}</style></head>
<body><main><h1>${title}</h1>${main}</main></body></html>`
