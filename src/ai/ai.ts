// The models: chat and completions, OpenAI's API under /v1, and the gateway behind both, which rag uses too.
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Ledger } from '#usage/ledger.ts'
import { openGateway } from './gateway.ts'
import type { LocalEmbedder } from './openai-compat/embeddings.ts'
import { openAiRoutes } from './openai-compat/routes.ts'
import { aiRoutes } from './routes.ts'

export type Ai = ReturnType<typeof createAi>

export function createAi(platform: Platform, { ledger }: { ledger: Ledger }) {
  const gateway = openGateway(platform, ledger)
  let localEmbedder: LocalEmbedder | null = null

  return {
    gateway,
    /** rag has the local embedder and comes after this room. */
    lendEmbedder(embedder: LocalEmbedder) {
      localEmbedder = embedder
    },
    routes(app: App) {
      aiRoutes(app, gateway)
      openAiRoutes(app, gateway, { localEmbedder: () => localEmbedder })
    },
    close: () => gateway.wire.close(),
  }
}
