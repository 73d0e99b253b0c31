// The `ai` room: chat and completions, OpenAI's and Anthropic's APIs under /v1, and the gateway
// behind them, which `rag` uses as well.
import type { Embedder } from '#embeddings/embedder.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import type { Ledger } from '#usage/ledger.ts'
import { anthropicErrorDialect } from './anthropic-messages/errors.ts'
import { anthropicRoutes } from './anthropic-messages/routes.ts'
import { openGateway } from './gateway.ts'
import { openAiErrorDialect } from './openai-compat/errors.ts'
import { openAiRoutes } from './openai-compat/routes.ts'
import { responsesRoutes } from './openai-responses/routes.ts'
import { planModelRoutes } from './plan-models.ts'
import { gatewayProblems } from './problems.ts'
import { createReplyCache, eraseReplies, startSweeping } from './reply-cache.ts'
import { aiRoutes } from './routes.ts'

export type Ai = ReturnType<typeof createAi>

export type AiNeeds = { ledger: Ledger; localEmbedder: Embedder; switches: LiveSwitches }

export function createAi(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'secrets' | 'log' | 'metrics' | 'tracer'>,
  { ledger, localEmbedder, switches }: AiNeeds,
) {
  const replies = createReplyCache(platform)
  const gateway = openGateway(platform, ledger, replies, switches)
  let stopSweeping = () => {}

  return {
    gateway,
    tags: [
      {
        name: 'ai',
        description: 'Chat and completions, with the same format for all vendors',
        problems: gatewayProblems,
      },
      {
        name: 'openai-compatible',
        description: "For OpenAI's own clients",
        problems: gatewayProblems,
        errors: openAiErrorDialect,
      },
      {
        name: 'anthropic-compatible',
        description: "For Anthropic's own clients, and Claude Code",
        problems: gatewayProblems,
        errors: anthropicErrorDialect,
      },
    ],
    limits: { ai: platform.config.limits.ai },
    routes(app: App) {
      aiRoutes(app, gateway)
      planModelRoutes(app, gateway, platform.config.catalogue.plans)
      openAiRoutes(app, gateway, { localEmbedder })
      anthropicRoutes(app, gateway)
      responsesRoutes(app, gateway)
    },
    erase: eraseReplies,
    start() {
      stopSweeping = startSweeping(platform, replies)
    },
    stop: () => stopSweeping(),
    close: () => gateway.wire.close(),
  }
}
