import { t } from '../language/text.ts'
/** `place`: the file or settings page that the snippet belongs in. */
export type Snippet = { id: string; name: string; place?: string; text: string }
export type SnippetGroup = { group: string; snippets: Snippet[] }

/** `brand`: the product's name. */
type Service = { origin: string; model: string; key: string; brand: string }

/** Builds examples with the service's address, one of its models, and the given key. */
export function snippetGroups(service: Service): SnippetGroup[] {
  return [
    { group: t('Programs'), snippets: programs(service) },
    { group: t('Agents'), snippets: agents(service) },
    { group: t('Your documents'), snippets: documents(service) },
  ]
}

function programs({ origin, model, key, brand }: Service): Snippet[] {
  return [
    {
      id: 'curl',
      name: 'curl',
      text: `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: 'python',
      name: 'Python (openai)',
      text: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")

stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
    },
    {
      id: 'javascript',
      name: 'JavaScript (openai)',
      text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' })

const reply = await client.responses.create({ model: '${model}', input: 'Hello' })
console.log(reply.output_text)`,
    },
    {
      id: 'anthropic',
      name: 'Python (anthropic)',
      text: `from anthropic import Anthropic

client = Anthropic(base_url="${origin}", auth_token="${key}")

reply = client.messages.create(
    model="${model}",
    max_tokens=1000,
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.content[0].text)`,
    },
    {
      id: 'langchain',
      name: 'LangChain (Python)',
      text: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="${model}", base_url="${origin}/v1", api_key="${key}")
print(model.invoke("Hello").content)`,
    },
    {
      id: 'ai-sdk',
      name: 'AI SDK (JavaScript)',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const service = createOpenAICompatible({
  name: '${buildSlug(brand)}',
  baseURL: '${origin}/v1',
  apiKey: '${key}',
})

const { text } = await generateText({ model: service('${model}'), prompt: 'Hello' })
console.log(text)`,
    },
  ]
}

function agents({ origin, model, key, brand }: Service): Snippet[] {
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      text: `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${key}
claude --model ${model}`,
    },
    {
      id: 'codex',
      name: 'Codex',
      place: '~/.codex/config.toml',
      text: `# Before starting it: export ${buildVariableName(brand)}=${key}
model = "${model}"
model_provider = "${buildSlug(brand)}"

[model_providers.${buildSlug(brand)}]
name = "${brand}"
base_url = "${origin}/v1"
env_key = "${buildVariableName(brand)}"
wire_api = "responses"`,
    },
    {
      id: 'opencode',
      name: 'opencode',
      place: 'opencode.json',
      text: `{
  "$schema": "https://opencode.ai/config.json",
  "model": "${buildSlug(brand)}/${model}",
  "provider": {
    "${buildSlug(brand)}": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "${origin}/v1", "apiKey": "${key}" },
      "models": { "${model}": {} }
    }
  }
}`,
    },
    {
      id: 'cline',
      name: 'Cline',
      place: t('Settings › API Provider › OpenAI Compatible'),
      text: `Base URL   ${origin}/v1
API Key    ${key}
Model ID   ${model}`,
    },
    {
      id: 'continue',
      name: 'Continue',
      place: '~/.continue/config.yaml',
      text: `name: ${brand}
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${origin}/v1
    apiKey: ${key}
    roles: [chat, edit, apply]`,
    },
  ]
}

function documents({ origin, key, brand }: Service): Snippet[] {
  return [
    {
      id: 'ask',
      name: t('Query with curl'),
      text: `curl ${origin}/api/rag/query \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"question": "What does the lease say about keys?", "top_k": 5}'`,
    },
    {
      id: 'mcp',
      name: t('MCP clients'),
      place: t('mcp.json, or .mcp.json of a project'),
      text: `{
  "mcpServers": {
    "${buildSlug(brand)}": {
      "type": "http",
      "url": "${origin}/mcp",
      "headers": { "Authorization": "Bearer ${key}" }
    }
  }
}`,
    },
    {
      id: 'mcp-claude-code',
      name: t('MCP in Claude Code'),
      text: `claude mcp add --transport http ${buildSlug(brand)} ${origin}/mcp \\
  --header "Authorization: Bearer ${key}"`,
    },
  ]
}

/** Returns a name for configuration files, such as `latchkey`. */
function buildSlug(brand: string): string {
  return brand.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** Returns a variable name, such as `LATCHKEY_API_KEY`. */
function buildVariableName(brand: string): string {
  return `${buildSlug(brand).replaceAll('-', '_').toUpperCase()}_API_KEY`
}
