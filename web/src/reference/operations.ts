import type { ReferenceOperation } from '#app/api-reference.ts'

/** Made by the build from docs/openapi.json. */
declare const __OPERATIONS__: ReferenceOperation[]

const TITLES = {
  'openai-compatible': 'OpenAI-compatible',
  'anthropic-compatible': 'Anthropic-compatible',
  ai: 'Chat',
  rag: 'Documents',
  mcp: 'MCP',
  usage: 'Usage',
  'api-keys': 'API keys',
}

const OPERATIONS = __OPERATIONS__

export const GROUPS = Object.entries(TITLES).map(([name, title]) => ({
  title,
  operations: OPERATIONS.filter(({ group }) => group === name),
}))

export function findOperation(id: string): ReferenceOperation | null {
  return OPERATIONS.find((one) => one.id === id) ?? null
}
