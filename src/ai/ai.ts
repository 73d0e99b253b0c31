// Guards the models: chat and completions, OpenAI's door under /v1, and the gateway behind both, which rag uses too.
// One thing to know: everything that asks a model goes through `complete` and `stream` of gateway.ts.
import type { Embedder } from '#embeddings/embedder.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Ledger } from '#usage/ledger.ts'
import { openGateway } from './gateway.ts'
import { openAiDoor } from './openai-compat/chat.ts'
import { aiRoutes } from './routes.ts'

export type Ai = ReturnType<typeof createAi>

export type AiNeeds = { ledger: Ledger; localEmbedder: Embedder }

export function createAi(platform: Platform, { ledger, localEmbedder }: AiNeeds) {
  const gateway = openGateway(platform, ledger)

  return {
    gateway,
    routes(app: App) {
      aiRoutes(app, gateway)
      openAiDoor(app, gateway, { localEmbedder })
    },
    close: () => gateway.wire.close(),
  }
}
