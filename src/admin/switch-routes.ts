// The superuser's kill switches. A change holds in this process when its reply is sent, elsewhere a second or two later.
import { Type } from 'typebox'
import { emailsOf } from '#identity/admin/administration.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { listSwitches, type Switch, switchOff, switchOn } from '#switches/set.ts'

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

export function adminSwitchRoutes(
  app: App,
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'bus'>,
  live: LiveSwitches,
): void {
  const { db } = platform

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

  app.post(
    '/api/admin/switches',
    {
      schema: {
        operationId: 'switchOff',
        tags,
        summary: 'Switch off a user’s calls, a key, models or a vendor, on all nodes within seconds',
        description:
          'Calls that are running end by themselves. Where a model or vendor is off, an alias’s others and the fallbacks stand in.',
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
      const caller = callerOf(request)
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
      const caller = callerOf(request)
      await requireFreshSignIn(platform, caller)
      await switchOn(platform, caller.userId, request.query)
      await live.reload()
      return { status: 'on' as const }
    },
  )

  async function views(rows: Switch[]) {
    const emails = await emailsOf(
      db,
      rows.flatMap(({ user_id }) => user_id ?? []),
    )
    return rows.map(({ user_id, ...row }) => ({
      ...row,
      email: user_id === null ? null : (emails.get(user_id) ?? null),
    }))
  }
}
