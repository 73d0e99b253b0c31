/** The brand for the apps, its pictures on both servers, and its form for superusers. */
import { type Static, Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { BrandForm, findFaults } from './form.ts'
import { LINKS, type LinkName } from './links.ts'
import type { LiveBrand, LogoKind } from './live.ts'
import { brandProblem } from './problems.ts'
import type { StoredBrand } from './store.ts'
import { deriveTokens } from './tokens.ts'

const brandRoute = declareRoutes('brand', { access: 'anyone' })
const adminRoute = declareRoutes('admin', { access: 'superuser' })

const KINDS = ['light', 'dark', 'square', 'social'] as const satisfies readonly LogoKind[]
/** The address of a picture changes with its bytes. */
const FOREVER = 'public, max-age=31536000, immutable'

const Path = (description: string) => Nullable(Type.String({ description }))
const BrandView = Type.Object(
  {
    name: Type.String(),
    legal_name: Type.String(),
    tagline: Nullable(Type.String()),
    logo: Type.Object(
      {
        light: Path('The path of the logo on light pages'),
        dark: Path('The path of the logo on dark pages'),
        square: Type.String({ description: 'The path of the icon' }),
      },
      { title: 'BrandLogo' },
    ),
    colours: Type.Object(
      { primary: Type.String(), accent: Nullable(Type.String()) },
      { title: 'BrandColours' },
    ),
    radius: Type.Integer({ description: 'Of buttons and fields, in pixels' }),
    links: Type.Object(
      Object.fromEntries(LINKS.map((name) => [name, Nullable(Type.String())])) as Record<
        LinkName,
        ReturnType<typeof Path>
      >,
      { title: 'BrandLinks' },
    ),
  },
  { title: 'Brand' },
)

const BrandSettings = Type.Object(
  {
    form: BrandForm,
    source: Type.Unsafe<'file' | 'stored' | 'default'>({
      ...OneOf('file', 'stored', 'default'),
      description: '`file`: BRAND names a file, and the brand cannot be edited here.',
    }),
    file: Nullable(Type.String({ description: 'The path in BRAND' })),
    changed_at: Nullable(Instant),
    default_name: Type.String({ description: 'The name without one in the form' }),
  },
  { title: 'BrandSettings' },
)

type Deps = Pick<Platform, 'config' | 'clock' | 'bus'> & { stored: StoredBrand }

export function brandRoutes(app: App, deps: Deps): void {
  const { config, stored } = deps
  const { brand } = config

  app.get(
    '/api/brand',
    brandRoute('getBrand', 'Get the name, logo, colours and links of the service', {
      response: { 200: BrandView },
    }),
    () => viewBrand(brand),
  )

  app.get(
    '/api/admin/brand',
    adminRoute('getBrandSettings', 'Get the brand as superusers edit it', {
      response: { 200: BrandSettings },
    }),
    () => viewSettings(),
  )

  app.put(
    '/api/admin/brand',
    adminRoute('putBrandSettings', 'Replace the brand, on all nodes within seconds', {
      description:
        'An omitted field has its default. A colour with too little contrast, and an SVG that contains more than shapes, is refused.',
      body: BrandForm,
      response: { 200: BrandSettings },
    }),
    async (request) => {
      const { userId } = requireCaller(request)
      if (brand.file !== null) throw brandProblem('brand_from_file')
      requireSound(request.body)
      await stored.save(deps, userId, request.body)
      return viewSettings()
    },
  )

  async function viewSettings(): Promise<Static<typeof BrandSettings>> {
    const changedAt = await stored.findChangedAt()
    const source = changedAt === null ? 'default' : 'stored'
    return {
      form: brand.form,
      source: brand.file === null ? source : 'file',
      file: brand.file,
      changed_at: changedAt,
      default_name: brand.defaultName,
    }
  }
}

/** @throws Problem 422 with what the schema cannot express */
export function requireSound(form: BrandForm): void {
  const issues = findFaults(form).map((issue) => ({ ...issue, loc: ['body', ...issue.loc] }))
  if (issues.length > 0) throw platformProblem('validation_failed', { issues })
}

/** The manifest with which phones install the user app (https://www.w3.org/TR/appmanifest/). */
export function manifestRoute(app: App, brand: LiveBrand): void {
  app.get(
    '/manifest.webmanifest',
    { config: { access: 'anyone', limit: 'none' } },
    (_request, reply) => {
      const icon = brand.findImage('square')
      const { bg, accent } = deriveTokens(brand.primary, 'light')
      return reply
        .type('application/manifest+json')
        .header('cache-control', 'no-cache')
        .send(
          JSON.stringify({
            name: brand.name,
            short_name: brand.name,
            ...(brand.tagline === null ? {} : { description: brand.tagline }),
            start_url: '/home',
            display: 'standalone',
            background_color: bg,
            theme_color: accent,
            icons: [{ src: brand.iconPath, sizes: 'any', type: icon?.type }],
          }),
        )
    },
  )
}

/** Serves the pictures, on both servers. */
export function brandPictureRoutes(app: App, brand: LiveBrand): void {
  for (const kind of KINDS) {
    app.get(`/brand/${kind}`, { config: { access: 'anyone', limit: 'none' } }, (request, reply) => {
      const image = brand.findImage(kind)
      if (image === null) {
        reply.callNotFound()
        return reply
      }
      const isCurrent = request.query !== null && readTag(request.query) === image.tag
      return reply
        .type(image.type)
        .header('cache-control', isCurrent ? FOREVER : 'no-cache')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        .header('cross-origin-resource-policy', 'cross-origin')
        .send(image.bytes)
    })
  }
}

const readTag = (query: unknown) => (query as { v?: unknown }).v

function viewBrand(brand: LiveBrand): Static<typeof BrandView> {
  return {
    name: brand.name,
    legal_name: brand.legalName,
    tagline: brand.tagline,
    logo: {
      light: brand.findImagePath('light'),
      dark: brand.findImagePath('dark'),
      square: brand.iconPath,
    },
    colours: { primary: brand.primary, accent: brand.accent },
    radius: brand.radius,
    links: Object.fromEntries(LINKS.map((name) => [name, brand.findLink(name)])) as Static<
      typeof BrandView
    >['links'],
  }
}
