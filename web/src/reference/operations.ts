import type { ReferenceOperation } from '#app/api-reference.ts'
import { t } from '../language/text.ts'

/** Made by the build from docs/openapi.json. */
declare const __OPERATIONS__: ReferenceOperation[]

const TITLES = {
  'openai-compatible': t('OpenAI-compatible'),
  'anthropic-compatible': t('Anthropic-compatible'),
  ai: 'Chat',
  rag: t('Documents'),
  mcp: 'MCP',
  usage: t('Usage'),
  'api-keys': t('API keys'),
}

const OPERATIONS = __OPERATIONS__

export const GROUPS = Object.entries(TITLES).map(([name, title]) => ({
  title,
  operations: OPERATIONS.filter(({ group }) => group === name),
}))

export function findOperation(id: string): ReferenceOperation | null {
  return OPERATIONS.find((one) => one.id === id) ?? null
}
