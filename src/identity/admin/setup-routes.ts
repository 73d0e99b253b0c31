// The page of the link that the first start prints. Plain HTML, because it must work before the
// user app is built.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import Format from 'typebox/format'
import type { LiveBrand } from '#brand/live.ts'
import { deriveTokens, type Scheme } from '#brand/tokens.ts'
import type { App } from '#platform/http/app.ts'
import { pageHeaders } from '#platform/http/headers.ts'
import { type Html, html, page, raw } from '#platform/http/html.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import { describeProblem } from '#platform/problem-text.ts'
import { readOrigin } from '../origin.ts'
import type { CredentialDeps } from '../sign-in/credentials.ts'
import { getSetupMessages, type SetupMessages } from './setup-messages.ts'
import { type SuperuserDeps, setUpSuperuser, setupIsOpen } from './superuser.ts'

const Query = Type.Object({ token: Type.Optional(Type.String({ maxLength: 512 })) })
const Form = Type.Object({
  token: Type.String({ maxLength: 512 }),
  email: Type.String({ maxLength: 320 }),
  password: Type.String({ maxLength: 1_024 }),
})

export function setupRoutes(
  app: App,
  deps: SuperuserDeps & CredentialDeps & Pick<Platform, 'log'>,
): void {
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
        const look = readLook(deps, request)
        pageHeaders(reply)
        if (await setupIsOpen(deps, token)) return page(reply, formPage(look, { token, email: '' }))
        const { expired, expiredText } = look.text
        return page(reply, layout(look, expired, html`<p class="lead">${expiredText}</p>`), 400)
      },
    )

    setup.post(
      '/setup',
      { schema: { body: Form, hide: true } as object, config: { access: 'anyone' } },
      async (request, reply) => {
        const { token, email, password } = request.body as {
          token: string
          email: string
          password: string
        }
        const look = readLook(deps, request)
        const again = (problem: string, status: number) =>
          page(reply, formPage(look, { token, email, problem }), status)
        pageHeaders(reply)
        if (!Format.Test('email', email)) return again(look.text.invalidEmail, 422)
        try {
          const user = await setUpSuperuser(deps, {
            token,
            email,
            password,
            origin: readOrigin(request),
          })
          const login = `${deps.config.urls.frontend}/login?redirect=/run/setup`
          return page(reply, donePage(look, user.email, login))
        } catch (error) {
          if (!(error instanceof Problem) || error.status >= 500) throw error
          return again(describeProblem(error, look.text.locale), error.status)
        }
      },
    )
  })
}

/** The brand, and the texts in the language of the visitor. */
type Look = { brand: LiveBrand; text: SetupMessages }

const readLook = (
  { config: { brand } }: Pick<Platform, 'config'>,
  request: FastifyRequest,
): Look => ({ brand, text: getSetupMessages(readLocale(request) ?? brand.language) })

function formPage(
  look: Look,
  { token, email, problem }: { token: string; email: string; problem?: string },
): Html {
  const { text } = look
  return layout(
    look,
    text.title,
    html`<p class="lead">${text.lead}</p>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/setup"><input type="hidden" name="token" value="${token}">
<label>${text.email}<input type="email" name="email" value="${email}" required autocomplete="username" autofocus></label>
<label>${text.password}<input type="password" name="password" required minlength="8" maxlength="128" autocomplete="new-password"></label>
<button>${text.button}</button></form>`,
  )
}

const donePage = (look: Look, email: string, login: string) =>
  layout(
    look,
    look.text.done,
    html`<p class="lead">${look.text.doneText(email)}</p><p><a class="button" href="${login}">${look.text.signIn}</a></p>`,
  )

/** In the user app’s colors, which follow from the brand’s primary color. */
function renderStyle(brand: LiveBrand): Html {
  const variables = (scheme: Scheme) =>
    Object.entries(deriveTokens(brand.primary, scheme))
      .map(([name, color]) => `--${name}:${color}`)
      .join(';')
  return raw(`:root{color-scheme:light dark;${variables('light')}}
@media (prefers-color-scheme:dark){:root{${variables('dark')}}}
body{margin:0;background:var(--bg);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
main{max-width:26rem;margin:10vh auto;padding:0 1rem}
.brand{display:flex;align-items:center;justify-content:center;gap:.625rem;font:600 1.3rem/1.2 Georgia,serif;margin-bottom:1.5rem}
.card{background:var(--raised);border:1px solid var(--line);border-radius:${brand.radius * 1.5}px;padding:1.75rem}
h1{font:600 1.5rem/1.25 Georgia,serif;margin:0 0 .5rem}.lead{color:var(--text2);margin:0 0 1.25rem}.problem{color:var(--bad);font-weight:600}
label{display:block;font-weight:550;margin-bottom:1rem}
input,button,.button{font:inherit;box-sizing:border-box;width:100%;min-height:44px;padding:.5rem .75rem;border-radius:${brand.radius}px;border:1px solid var(--line)}
input{display:block;margin-top:.3rem;background:var(--bg);color:var(--text)}
button,.button{display:block;background:var(--accent);color:var(--accentText);border:0;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}`)
}

const layout = (
  { brand, text }: Look,
  title: string,
  main: Html,
) => html`<html lang="${text.locale}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title} · ${brand.name}</title>
<link rel="icon" href="${brand.iconPath}"><style>${renderStyle(brand)}</style></head>
<body><main><div class="brand"><img src="${brand.iconPath}" alt="" width="28" height="28">${brand.name}</div><div class="card"><h1>${title}</h1>${main}</div></main></body></html>`
