import { Type } from 'typebox'
import type { Config } from '#config/config.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { NamedObject, Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { readUserSettings, writeKeeping } from './conversation-store.ts'
import { HOME_POLICY } from './schemas.ts'

const Settings = NamedObject('ConversationPreferences', {
  keeps_conversations: Type.Boolean({
    description: 'False: the service stores no new questions and answers.',
  }),
  kept_days: Nullable(
    Type.Integer({ description: 'Days after its last message until a conversation is deleted.' }),
  ),
})

export function conversationSettingsRoutes(
  app: App,
  { db, config }: Pick<Platform, 'db' | 'config'>,
): void {
  app.get(
    '/api/conversations/settings',
    {
      schema: {
        operationId: 'getConversationSettings',
        tags: ['conversations'],
        summary: 'Read whether conversations are kept',
        response: { 200: Settings },
      },
      config: { ...HOME_POLICY, viewable: true },
    },
    async (request) => {
      const { is_keeping } = await readUserSettings(db, requireCaller(request).userId)
      return settingsView(config, is_keeping)
    },
  )

  app.put(
    '/api/conversations/settings',
    {
      schema: {
        operationId: 'changeConversationSettings',
        tags: ['conversations'],
        summary: 'Choose whether conversations are kept; existing ones stay',
        body: Type.Object({ keeps_conversations: Type.Boolean() }),
        response: { 200: Settings },
      },
      config: HOME_POLICY,
    },
    async (request) => {
      const { keeps_conversations } = request.body
      await writeKeeping(db, requireCaller(request).userId, keeps_conversations)
      return settingsView(config, keeps_conversations)
    },
  )
}

function settingsView({ retention }: Pick<Config, 'retention'>, keeps: boolean) {
  return { keeps_conversations: keeps, kept_days: retention.conversationsDays }
}
