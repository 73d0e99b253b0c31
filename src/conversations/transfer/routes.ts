import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Config } from '#config/config.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import { JsonObject, NamedObject, OneOf } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import type { StoreDeps } from '../conversation-store.ts'
import { HOME_POLICY } from '../schemas.ts'
import { exportConversations } from './export.ts'
import { Importer } from './import.ts'

const tags = ['conversations']

const ImportResult = NamedObject('ConversationImport', {
  imported: Type.Integer(),
  skipped: Type.Array(
    NamedObject('SkippedConversation', {
      title: Type.String(),
      reason: OneOf('already_imported', 'empty', 'invalid', 'too_long'),
    }),
  ),
})

/** The handler reads one conversation at a time. */
const IMPORT: Described = {
  body: {
    'application/json': Type.Union([
      NamedObject('ConversationExport', { conversations: Type.Array(JsonObject) }),
      Type.Array(JsonObject),
    ]),
  },
}
const EXPORT: Described = {
  replies: {
    200: {
      description: 'All conversations with all branches, as JSON that can be imported.',
      content: { 'application/json': JsonObject },
    },
  },
}

export async function transferRoutes(
  app: App,
  deps: StoreDeps & { config: Pick<Config, 'maxFileBytes'> },
): Promise<void> {
  app.get(
    '/api/conversations/export',
    {
      schema: {
        operationId: 'exportConversations',
        tags,
        summary: 'Download all conversations',
      },
      config: { ...HOME_POLICY, described: EXPORT },
    },
    (request, reply) => {
      const now = deps.clock.now()
      const file = exportConversations(deps, requireCaller(request).userId, now)
      return reply
        .type('application/json')
        .header('cache-control', 'no-store')
        .header(
          'content-disposition',
          `attachment; filename="conversations-${now.slice(0, 10)}.json"`,
        )
        .send(Readable.from(file))
    },
  )

  const importer = new Importer(deps)
  await app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.post(
      '/api/conversations/import',
      {
        schema: {
          operationId: 'importConversations',
          tags,
          summary: 'Import conversations of an export, or of ChatGPT’s conversations.json',
          description:
            'Takes at most 1,000 conversations per call; send a larger file in several. A conversation that was imported before is skipped.',
          response: { 200: ImportResult },
        },
        bodyLimit: deps.config.maxFileBytes,
        config: { ...HOME_POLICY, limit: 'ai', described: IMPORT },
      },
      async (request) => {
        const body: unknown = request.body
        if (!Buffer.isBuffer(body) || body.length === 0)
          throw invalid(['body'], 'Field required', 'missing')
        return await importer.run(requireCaller(request).userId, body)
      },
    )
  })
}
