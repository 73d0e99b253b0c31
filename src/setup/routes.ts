/**
 * The setup page's API, for superusers. A key is tested before it is saved, and no reply contains a
 * saved one.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { testVendorKey } from '#ai/key-test.ts'
import { FREE } from '#catalogue/catalogue.ts'
import { PRICE_NAME } from '#config/settings-file.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { findUser } from '#identity/users.ts'
import { type Caller, requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { MailForm, ModelForm, PaymentsForm, PlansForm } from './forms.ts'
import { buildMailSettings, sendTestEmail } from './mail.ts'
import { type NoticeDeps, notifySuperusers } from './notice.ts'
import { createPrices, setUpPayments } from './payments.ts'
import { setupProblem } from './problems.ts'
import type { Changes, Settings } from './saved-settings.ts'
import { describeSetup, listKeyable, listPriceSettings, SetupState } from './state.ts'

const route = declareRoutes('setup', { access: 'superuser' })

export type SetupDeps = NoticeDeps &
  Pick<Platform, 'tracer'> & { settings: Settings; switches: LiveSwitches }

const Lines = Type.Array(
  Type.Object({ name: Type.String(), value: Type.String() }, { title: 'SettingLine' }),
  { description: 'For the environment of a service that stores no settings; otherwise empty.' },
)

export function setupApiRoutes(app: App, deps: SetupDeps): void {
  const { settings, clock, config } = deps
  const startedAt = clock.now()

  app.get(
    '/api/admin/setup',
    route('getSetup', 'Show which parts of the service are set up, without secrets', {
      response: { 200: SetupState },
    }),
    () => describeSetup(settings, config.brand, startedAt),
  )

  paymentRoutes(app, deps)
  modelRoutes(app, deps)

  mailRoutes(app, deps)
  restartRoute(app, deps, startedAt)
}

function paymentRoutes(app: App, deps: SetupDeps): void {
  const { settings } = deps
  step(app, deps, {
    path: '/api/admin/setup/payments',
    operationId: 'setUpPayments',
    summary: 'Test a Stripe key, create the webhook endpoints, and save the key',
    description:
      'Endpoints are created for public addresses only. Older endpoints at the same addresses are disabled.',
    body: PaymentsForm,
    reply: {
      account: Type.Object(
        {
          name: Nullable(Type.String()),
          country: Nullable(Type.String()),
          can_charge: Type.Boolean(),
        },
        { title: 'ProcessorAccount' },
      ),
    },
    async run({ secret_key: secretKey, webhook_secret: webhookSecret = null }) {
      const { account, changes } = await setUpPayments(deps, settings, { secretKey, webhookSecret })
      return { changes, reply: { account } }
    },
  })
  removal(app, deps, {
    path: '/api/admin/setup/payments',
    operationId: 'removePayments',
    summary: 'Remove the saved Stripe key with its webhook secret and prices',
    findChanges: () => ({
      STRIPE_SECRET_KEY: null,
      STRIPE_WEBHOOK_SECRET: null,
      ...Object.fromEntries(settings.listSaved(PRICE_NAME).map(([name]) => [name, null])),
    }),
  })
  step(app, deps, {
    path: '/api/admin/setup/plans',
    operationId: 'setUpPlans',
    summary: 'Create the prices of plans at Stripe, and sell the plans for them',
    description: 'Running subscriptions keep their prices.',
    body: PlansForm,
    reply: {},
    async run({ currency, prices }) {
      const { catalogue } = settings.preview()
      const plans = catalogue.plans.filter(({ tier }) => tier !== FREE)
      const unknown = prices.find(({ tier }) => !plans.some((plan) => plan.tier === tier))
      if (unknown) throw setupProblem('plan_not_found', { tier: unknown.tier })
      const priced = plans.map(({ tier, name }) => ({
        tier,
        name,
        prices: listPriceSettings(tier).flatMap(({ interval, setting }) => {
          const price = prices.find((one) => one.tier === tier && one.interval === interval)
          return price === undefined ? [] : [{ setting, interval, amount: price.amount }]
        }),
      }))
      // A price that cannot take effect is not created at all.
      for (const { setting } of priced.flatMap((plan) => plan.prices))
        settings.preview({ [setting]: 'price_to_create' })
      return { changes: await createPrices(settings, priced, currency), reply: {} }
    },
  })
}

function modelRoutes(app: App, deps: SetupDeps): void {
  const { settings, config, clock, log, tracer, switches } = deps
  const findKeySetting = (name: string): string => {
    const found = listKeyable(settings.preview()).find(({ vendor }) => vendor.name === name)
    if (found === undefined) throw setupProblem('vendor_not_found')
    return found.keySetting
  }
  step(app, deps, {
    path: '/api/admin/setup/models',
    operationId: 'setUpModels',
    summary: 'Test the key of a model vendor by one short call, and save it',
    description: 'The call asks the vendor’s default model for at most 16 tokens.',
    body: ModelForm,
    reply: { model: Type.String(), latency_ms: Type.Integer() },
    async run({ vendor, api_key }) {
      const changes = { [findKeySetting(vendor)]: api_key }
      const candidate = { ...config, ai: settings.preview(changes).ai }
      const test = await testVendorKey({ config: candidate, clock, log, tracer }, switches, vendor)
      if ('failure' in test)
        throw setupProblem('vendor_test_failed', { vendor, reason: test.failure })
      return { changes, reply: { model: test.model, latency_ms: test.latencyMs } }
    },
  })
  removal(app, deps, {
    path: '/api/admin/setup/models',
    operationId: 'removeModels',
    summary: 'Remove the saved key of a model vendor',
    query: { vendor: Type.String({ minLength: 1, maxLength: 64 }) },
    findChanges: ({ vendor = '' }) => ({ [findKeySetting(vendor)]: null }),
  })
}

function mailRoutes(app: App, deps: SetupDeps): void {
  const { settings, config, db } = deps
  step(app, deps, {
    path: '/api/admin/setup/mail',
    operationId: 'setUpMail',
    summary: 'Send you a test email through a mail server, then save the server',
    body: MailForm,
    reply: { sent_to: Type.String() },
    async run({ from_name, from_address, ...server }, { email, userId }) {
      const changes = buildMailSettings({
        ...server,
        ...(from_name !== undefined && { fromName: from_name }),
        fromAddress: from_address,
      })
      const user = await findUser(db, userId)
      const to = { email, locale: user?.locale ?? null }
      await sendTestEmail(config, settings.preview(changes), to)
      return { changes, reply: { sent_to: email } }
    },
  })
  removal(app, deps, {
    path: '/api/admin/setup/mail',
    operationId: 'removeMail',
    summary: 'Remove the saved mail server',
    findChanges: () => ({ SMTP_URL: null, MAIL_FROM: null }),
  })
}

function restartRoute(app: App, deps: SetupDeps, startedAt: string): void {
  const { settings } = deps
  app.post(
    '/api/admin/setup/restart',
    route(
      'restartService',
      'Restart the service with the saved settings; running requests end first',
      {
        description: '`GET /api/admin/setup` shows a later `started_at` once it is up again.',
        response: { 202: Type.Object({ started_at: Instant }) },
      },
    ),
    async (request, reply) => {
      await requireFreshSignIn(deps, requireCaller(request))
      if (settings.pending.length === 0) throw setupProblem('nothing_to_apply')
      // The service closes its connections, so the reply has to leave first.
      reply.raw.once('close', () => settings.restart())
      return reply.code(202).send({ started_at: startedAt })
    },
  )
}

type Step<Body extends TSchema, Reply extends Record<string, TSchema>> = {
  path: string
  operationId: string
  summary: string
  description?: string
  body: Body
  reply: Reply
  run(
    body: Static<Body>,
    caller: Caller,
  ): Promise<{ changes: Changes; reply: { [K in keyof Reply]: Static<Reply[K]> } }>
}

/** Mounts a route that tests settings and saves them. */
function step<Body extends TSchema, Reply extends Record<string, TSchema>>(
  app: App,
  deps: SetupDeps,
  { path, run, body, reply, operationId, summary, ...described }: Step<Body, Reply>,
): void {
  app.post(
    path,
    route(operationId, summary, {
      ...described,
      body,
      response: { 200: Type.Object({ ...reply, lines: Lines }) },
    } as object),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      const { changes, reply: facts } = await run(request.body as Static<Body>, caller)
      return { ...facts, lines: await save(deps, caller, changes) }
    },
  )
}

type Removal = {
  path: string
  operationId: string
  summary: string
  query?: Record<string, TSchema>
  findChanges(query: { vendor?: string }): Changes
}

function removal(
  app: App,
  deps: SetupDeps,
  { path, findChanges, query, operationId, summary }: Removal,
) {
  app.delete(
    path,
    route(operationId, summary, {
      ...(query && { querystring: Type.Object(query) }),
      response: { 200: Type.Object({ lines: Lines }) },
    } as object),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      return { lines: await save(deps, caller, findChanges(request.query as { vendor?: string })) }
    },
  )
}

async function save(deps: SetupDeps, caller: Caller, changes: Changes) {
  const lines = await deps.settings.save(caller.userId, changes)
  if (deps.settings.isStored) await notifySuperusers(deps, caller.email, changes)
  return lines
}
