import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Nullable, Uuid } from '#platform/http/schema.ts'
import { KeySet } from '#platform/signing.ts'
import {
  type ActivationDeps,
  activateMachine,
  deactivateMachine,
  listActivations,
  releaseOfUser,
  requireActivation,
} from './activations.ts'
import { LicenseFile, type OfflineLicenseDeps, signOfflineLicense } from './offline-license.ts'
import { LicenseKey, LicenseView, verifyLicense } from './verification.ts'

/** One line of printable text. */
const LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'
const Line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: LINE })
/** Chosen by the program, such as a hash of the machine's serial numbers. */
const Fingerprint = Line(200)

const Activation = Type.Object(
  {
    id: Type.String(),
    name: Nullable(Type.String()),
    platform: Nullable(Type.String()),
    version: Nullable(Type.String()),
    activated_at: Instant,
    last_seen_at: Instant,
  },
  { title: 'Activation' },
)
const Activations = Type.Object(
  {
    // Null: no limit.
    limit: Nullable(Type.Integer()),
    releases_left: Nullable(Type.Integer()),
    releases_renew_at: Instant,
    activations: Type.Array(Activation),
  },
  { title: 'Activations' },
)
const Activated = Type.Object(
  { activation_id: Type.String(), file: LicenseFile, until: Instant },
  { title: 'Activated' },
)
const SignedLicense = Type.Object({ file: LicenseFile, until: Instant }, { title: 'SignedLicense' })

export type LicenseDeps = ActivationDeps & OfflineLicenseDeps

export function licenseRoutes(app: App, deps: LicenseDeps): void {
  programRoutes(app, deps)
  buyerRoutes(app, deps)
}

/** The routes that a sold program calls, with the license key. */
function programRoutes(app: App, deps: LicenseDeps): void {
  const tags = ['licenses']
  // A sold program may run in a browser.
  const config = { access: 'anyone', origins: 'any' } as const

  app.post(
    '/api/license/verify',
    {
      schema: {
        operationId: 'verifyLicense',
        body: Type.Object({ license_key: LicenseKey, activation_id: Type.Optional(Uuid) }),
        response: { 200: LicenseView },
        tags,
        summary: 'Tells whether a license key, and an activation of it, is valid',
      },
      config,
    },
    ({ body }) => verifyLicense(deps, body.license_key, body.activation_id?.toLowerCase()),
  )

  app.post(
    '/api/license/activate',
    {
      schema: {
        operationId: 'activateLicense',
        body: Type.Object({
          license_key: LicenseKey,
          fingerprint: Fingerprint,
          name: Type.Optional(Line(100)),
          platform: Type.Optional(Line(50)),
          version: Type.Optional(Line(64)),
        }),
        response: { 200: Activated, 201: Activated },
        tags,
        summary: 'Activates a license on a machine',
        description: '200 when the machine is active already; it is not counted twice.',
      },
      config,
    },
    async ({ body }, reply) => {
      const { license_key, ...machine } = body
      const { purchase, activation, isNew } = await activateMachine(deps, license_key, machine)
      const { file, until } = await signOfflineLicense(
        deps,
        purchase,
        activation,
        machine.fingerprint,
      )
      reply.status(isNew ? 201 : 200)
      return { activation_id: activation.id, file, until }
    },
  )

  app.post(
    '/api/license/deactivate',
    {
      schema: {
        operationId: 'deactivateLicense',
        body: Type.Object({ license_key: LicenseKey, activation_id: Uuid }),
        response: { 200: Type.Object({ activation_id: Type.String(), released_at: Instant }) },
        tags,
        summary: 'Releases a machine',
      },
      config,
    },
    async ({ body }) => {
      const activation_id = body.activation_id.toLowerCase()
      const released_at = await deactivateMachine(deps, body.license_key, activation_id)
      return { activation_id, released_at }
    },
  )

  app.post(
    '/api/license/file',
    {
      schema: {
        operationId: 'signLicenseFile',
        body: Type.Object({ license_key: LicenseKey, fingerprint: Fingerprint }),
        response: { 200: SignedLicense },
        tags,
        summary: 'Signs an offline license for an active machine',
      },
      config,
    },
    async ({ body: { license_key, fingerprint } }) => {
      const { purchase, activation } = await requireActivation(deps, license_key, fingerprint)
      return signOfflineLicense(deps, purchase, activation, fingerprint)
    },
  )

  app.get(
    '/.well-known/license-keys.json',
    {
      schema: {
        operationId: 'getLicenseKeys',
        response: { 200: KeySet },
        tags,
        summary: 'The keys that sign offline licenses and updates (RFC 7517)',
      },
      config: { ...config, limit: 'general' },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return deps.signingKeys.published()
    },
  )
}

function buyerRoutes(app: App, deps: LicenseDeps): void {
  const tags = ['licenses']
  const config = { access: 'session' } as const

  app.get(
    '/api/purchases/:id/activations',
    {
      schema: {
        operationId: 'listActivations',
        params: Type.Object({ id: Uuid }),
        response: { 200: Activations },
        tags,
        summary: 'The machines on which a license is active',
      },
      config,
    },
    (request) =>
      listActivations(deps, requireCaller(request).userId, request.params.id.toLowerCase()),
  )

  app.delete(
    '/api/purchases/:id/activations/:activation_id',
    {
      schema: {
        operationId: 'releaseActivation',
        params: Type.Object({ id: Uuid, activation_id: Uuid }),
        response: { 200: Message },
        tags,
        summary: 'Releases a machine of a license',
      },
      config,
    },
    async (request) => {
      const { id, activation_id } = request.params
      const { userId } = requireCaller(request)
      await releaseOfUser(deps, userId, id.toLowerCase(), activation_id.toLowerCase())
      return { message: 'Activation released' }
    },
  )
}
