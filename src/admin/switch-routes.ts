// The superuser's kill switches. A change is effective in this process when the reply is sent, and
// in other processes one or two seconds later.
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
import { adminRoute } from './admin-route.ts'

const Kind = Named('SwitchKind', OneOf('user', 'key', 'model', 'vendor'))
const Subject = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[!-~]+$',
  description:
    'The id of a user or a key, the name of a vendor, or models as a plan lists them: `gpt-6-luna`, `groq/*`, an alias.',
})

const SwitchView = Type.Object(
  {
    kind: Kind,
    subject: Type.String(),
    email: Nullable(
      Type.String({ description: 'The address of the user, or of the key’s owner.' }),
    ),
    reason: Type.String(),
    set_at: Instant,
  },
  { title: 'Switch' },
)

const ModelName = Type.String({ description: '`vendor/model`' })
const PriceRatio = Nullable(
  Type.Number({
    description:
      'The new cost of the same calls divided by their present cost: 8 is 8 times as much.',
  }),
)

const SwitchEffectView = Type.Object(
  {
    days: Type.Integer({ description: 'Calls and costs are daily averages over this many days.' }),
    default_model: Type.Object(
      { before: Nullable(ModelName), after: Nullable(ModelName), price_ratio: PriceRatio },
      {
        title: 'SwitchEffectOnDefault',
        description: 'Calls that name no model. `after` is null when they would be rejected.',
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
          'Models that the switch would turn off, the highest recent cost first. `stand_in` answers calls that name the model; null: they would be rejected.',
      },
    ),
    aliases: Type.Array(
      Type.Object(
        { alias: Type.String(), before: Nullable(ModelName), after: Nullable(ModelName) },
        { title: 'SwitchEffectOnAlias' },
      ),
      { description: 'Aliases of these models, and the first model of each alias.' },
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
    adminRoute('listSwitches', 'List the switches that are off, with their reasons', {
      response: { 200: Type.Object({ switches: Type.Array(SwitchView) }) },
    }),
    async () => ({ switches: await views(await listSwitches(db)) }),
  )

  app.get(
    '/api/admin/switches/effect',
    adminRoute(
      'previewSwitch',
      'Preview the effect of switching off a model or a vendor: the stand-in models and the cost',
      {
        description:
          'Changes nothing. The preview is for callers who may use every model; the model list of a plan or a key can exclude more.',
        querystring: Type.Object({
          kind: Named('SwitchableRoute', OneOf('model', 'vendor')),
          subject: Subject,
        }),
        response: { 200: SwitchEffectView },
      },
    ),
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
    adminRoute(
      'switchOff',
      'Switch off a user’s calls, a key, models or a vendor, on all nodes within seconds',
      {
        description:
          'Running calls continue. When a model or vendor is off, the other models of an alias and the fallbacks answer. Calls that name no model use the first fallback, otherwise the same vendor’s model with the nearest price that is not higher. Without such a model they are rejected.',
        body: Type.Object({
          kind: Kind,
          subject: Subject,
          reason: Type.String({
            minLength: 1,
            maxLength: 200,
            pattern: '^[^\\p{C}]+$',
            description: 'Shown to rejected callers.',
          }),
        }),
        response: { 200: SwitchView },
      },
    ),
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
    adminRoute('switchOn', 'Turn a switch on again', {
      querystring: Type.Object({ kind: Kind, subject: Subject }),
      response: { 200: Type.Object({ status: Type.Literal('on') }) },
    }),
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
