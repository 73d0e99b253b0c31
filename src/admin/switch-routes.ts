// The superuser's kill switches. A change holds in this process when its reply is sent, elsewhere a second or two later.
import { Type } from 'typebox'
import type { Ai } from '#ai/ai.ts'
import { computeSwitchEffect } from '#ai/switch-effect.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { listSwitches, requireSubject, type Switch, switchOff, switchOn } from '#switches/set.ts'
import { sumModelsUsage } from '#usage/operator-sums.ts'

const tags = ['admin']

const Kind = Named('SwitchKind', OneOf('user', 'key', 'model', 'vendor'))
const Subject = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[!-~]+$',
  description:
    'The id of a user or a key, the name of a vendor, or models in the words of a plan’s list: `gpt-6-luna`, `groq/*`, an alias.',
})

const SwitchView = Type.Object(
  {
    kind: Kind,
    subject: Type.String(),
    email: Nullable(Type.String({ description: 'Of the user, or of the key’s owner.' })),
    reason: Type.String(),
    set_at: Instant,
  },
  { title: 'Switch' },
)

const ModelName = Type.String({ description: '`vendor/model`' })
const PriceRatio = Nullable(
  Type.Number({
    description:
      'What the same calls would cost there, divided by what they cost now: 8 is 8 times as much.',
  }),
)

const SwitchEffectView = Type.Object(
  {
    days: Type.Integer({ description: 'Calls and costs are averages of so many last days.' }),
    default_model: Type.Object(
      { before: Nullable(ModelName), after: Nullable(ModelName), price_ratio: PriceRatio },
      {
        title: 'SwitchEffectOnDefault',
        description: 'Calls that name no model. `after` is null where they would be refused.',
      },
    ),
    models: Type.Array(
      Type.Object(
        {
          model: ModelName,
          calls_per_day: Type.Number(),
          cost_usd_per_day: Type.Number(),
          stand_in: Nullable(ModelName),
          price_ratio: PriceRatio,
        },
        { title: 'SwitchEffectOnModel' },
      ),
      {
        description:
          'Models that are on now and would be off, the most expensive of late first. `stand_in` answers calls that name the model; null: they would be refused.',
      },
    ),
    aliases: Type.Array(
      Type.Object(
        { alias: Type.String(), before: Nullable(ModelName), after: Nullable(ModelName) },
        { title: 'SwitchEffectOnAlias' },
      ),
      {
        description: 'Aliases of these models, with their first model before and after the switch.',
      },
    ),
  },
  { title: 'SwitchEffect' },
)

const EFFECT_DAYS = 7
const MODELS_MAX = 500

export function adminSwitchRoutes(
  app: App,
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'bus'>,
  { switches: live, ai }: { switches: LiveSwitches; ai: Pick<Ai, 'gateway'> },
): void {
  const { db, clock } = platform

  app.get(
    '/api/admin/switches',
    {
      schema: {
        operationId: 'listSwitches',
        tags,
        summary: 'What is switched off, and why',
        response: { 200: Type.Object({ switches: Type.Array(SwitchView) }) },
      },
      config: { access: 'superuser' },
    },
    async () => ({ switches: await views(await listSwitches(db)) }),
  )

  app.get(
    '/api/admin/switches/effect',
    {
      schema: {
        operationId: 'previewSwitch',
        tags,
        summary:
          'What switching off a model or a vendor would change: where its calls would go, and at what price',
        description:
          'Nothing is switched. It holds for callers who may use every model: a plan’s or a key’s own list can leave out more.',
        querystring: Type.Object({
          kind: Named('SwitchableRoute', OneOf('model', 'vendor')),
          subject: Subject,
        }),
        response: { 200: SwitchEffectView },
      },
      config: { access: 'superuser' },
    },
    async ({ query }) => {
      const subject = requireSubject(platform, query)
      const to = clock.now().slice(0, 10)
      const from = plus(`${to}T00:00:00.000Z`, -(EFFECT_DAYS - 1) * DAY_MS).slice(0, 10)
      const uses = await sumModelsUsage(db, { from, to }, MODELS_MAX)
      const { config } = ai.gateway
      return {
        days: EFFECT_DAYS,
        ...computeSwitchEffect({ config, live }, { ...query, subject }, uses, EFFECT_DAYS),
      }
    },
  )

  app.post(
    '/api/admin/switches',
    {
      schema: {
        operationId: 'switchOff',
        tags,
        summary:
          'Switch off a user’s calls, a key, models or a vendor, on all nodes within seconds',
        description:
          'Calls that are running end by themselves. Where a model or vendor is off, an alias’s others and the fallbacks stand in. Calls that name no model go to the first fallback, else to the same vendor’s model whose price is nearest and not higher; else they are refused.',
        body: Type.Object({
          kind: Kind,
          subject: Subject,
          reason: Type.String({
            minLength: 1,
            maxLength: 200,
            pattern: '^[^\\p{C}]+$',
            description: 'Told to whoever is refused.',
          }),
        }),
        response: { 200: SwitchView },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(platform, caller)
      const row = await switchOff(platform, caller.userId, request.body)
      await live.reload()
      const [view] = await views([row])
      if (view === undefined) throw new Error('a switch has no view')
      return view
    },
  )

  app.delete(
    '/api/admin/switches',
    {
      schema: {
        operationId: 'switchOn',
        tags,
        summary: 'Switch on again what is off',
        querystring: Type.Object({ kind: Kind, subject: Subject }),
        response: { 200: Type.Object({ status: Type.Literal('on') }) },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(platform, caller)
      await switchOn(platform, caller.userId, request.query)
      await live.reload()
      return { status: 'on' as const }
    },
  )

  async function views(rows: Switch[]) {
    const emails = await findEmails(
      db,
      rows.flatMap(({ user_id }) => user_id ?? []),
    )
    return rows.map(({ user_id, ...row }) => ({
      ...row,
      email: user_id === null ? null : (emails.get(user_id) ?? null),
    }))
  }
}
