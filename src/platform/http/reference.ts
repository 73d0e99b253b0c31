/**
 * Serves a description of the server's API at /openapi.json, built from the schemas that validate,
 * and two pages that display it. Registered before the routes and only with DEBUG: a production
 * service publishes no description.
 */
import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import type { App } from './app.ts'
import { html, page } from './html.ts'
import {
  completeDescription,
  type DescribedPolicy,
  type Description,
  type Reference,
} from './openapi.ts'

const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; frame-ancestors 'none'"

const OPEN = {
  config: { access: 'anyone' as const, limit: 'none' as const },
  schema: { hide: true },
}

export async function describeRoutes(
  app: App,
  { info, url, securitySchemes, tags, problems, entitlements, examples }: Reference,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: info(),
      servers: [{ url }],
      tags: tags.map(({ name, description }) => ({ name, description })),
      components: { securitySchemes: securitySchemes as never },
    },
    hideUntagged: true,
    transform({ schema, url: route, route: { config = {} } }) {
      const { access = 'anyone', limit, events = null, described = {} } = config
      const note = [access === 'superuser' && 'Superusers only.', entitlements.describe(config)]
        .filter(Boolean)
        .join(' ')
      const policy: DescribedPolicy = {
        access,
        limited: limit !== undefined && limit !== 'none',
        events,
        described,
      }
      const routeSchema = {
        ...schema,
        'x-policy': policy,
        ...(note ? { description: [schema?.description, note].filter(Boolean).join(' ') } : {}),
      }
      return { schema: routeSchema as never, url: route }
    },
    transformObject(made) {
      const { openapiObject } = made as unknown as { openapiObject: Description }
      completeDescription(openapiObject, { tags, problems, examples })
      return openapiObject as never
    },
  })

  app.get('/openapi.json', OPEN, async () => ({ ...app.swagger(), info: info() }))
}

/**
 * Adds the reference pages. Call it after `describeRoutes`. `findRedoc` returns the path of Redoc's
 * script.
 */
export async function referencePages(
  app: App,
  info: Reference['info'],
  findRedoc: () => string,
): Promise<void> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, persistAuthorization: true },
    staticCSP: false,
    transformSpecification: (description) => ({ ...description, info: info() }),
    transformSpecificationClone: false,
    uiHooks: {
      onRequest(_request, reply, done) {
        reply.header('content-security-policy', POLICY)
        done()
      },
    },
  })

  // Redoc starts itself on a <redoc> element, so that no inline script is needed.
  let bundle: Buffer | null = null
  app.get('/redoc/redoc.js', OPEN, (_request, reply) => {
    bundle ??= readFileSync(findRedoc())
    return reply.type('text/javascript').header('cache-control', 'max-age=3600').send(bundle)
  })
  app.get('/redoc', OPEN, (_request, reply) =>
    page(
      reply.header('content-security-policy', POLICY),
      html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${info().title} API</title></head>
<body style="margin:0"><redoc spec-url="/openapi.json" hide-download-button></redoc><script src="/redoc/redoc.js"></script></body></html>`,
    ),
  )
}
