// Writes a request of the playground as programs of five clients. `npm run bench -- sdks` runs them.
import type { ChatBody } from './request.ts'

export const CLIENTS = [
  { value: 'curl', label: 'curl', language: 'bash' },
  { value: 'python', label: 'Python (openai)', language: 'python' },
  { value: 'typescript', label: 'TypeScript (openai)', language: 'typescript' },
  { value: 'anthropic', label: 'Python (anthropic)', language: 'python' },
  { value: 'langchain', label: 'LangChain (Python)', language: 'python' },
] as const
export type Client = (typeof CLIENTS)[number]['value']

type Access = { origin: string; key: string }

/** Anthropic's API requires a limit. */
const MAX_TOKENS_DEFAULT = 4_096

const WRITERS: Record<Client, (body: ChatBody, access: Access) => string> = {
  curl: writeCurl,
  python: writePython,
  typescript: writeTypeScript,
  anthropic: writeAnthropic,
  langchain: writeLangChain,
}

export function writeCode(client: Client, body: ChatBody, access: Access): string {
  return WRITERS[client](body, access)
}

function writeCurl(body: ChatBody, { origin, key }: Access): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)
  return `curl ${body.stream ? '--no-buffer ' : ''}${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function writePython(body: ChatBody, { origin, key }: Access): string {
  const call = `client.chat.completions.create(\n${writeArguments(body)})`
  return `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")

${
  body.stream
    ? `stream = ${call}
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : `reply = ${call}
print(reply.choices[0].message.content)`
}`
}

function writeTypeScript(body: ChatBody, { origin, key }: Access): string {
  // Keys without quotes, as people write them.
  const value = JSON.stringify(body, null, 2).replace(/^( *)"(\w+)":/gm, '$1$2:')
  const call = `await client.chat.completions.create(${value})`
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' })

${
  body.stream
    ? `const stream = ${call}
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')`
    : `const reply = ${call}
console.log(reply.choices[0]?.message.content)`
}`
}

function writeAnthropic(body: ChatBody, { origin, key }: Access): string {
  const { model, messages, temperature, top_p, max_tokens, reasoning_effort, stream } = body
  const system = messages.find(({ role }) => role === 'system')?.content
  const call = writeArguments({
    model,
    max_tokens: max_tokens ?? MAX_TOKENS_DEFAULT,
    system,
    messages: messages.filter(({ role }) => role !== 'system'),
    temperature,
    top_p,
    extra_body:
      reasoning_effort === undefined ? undefined : { output_config: { effort: reasoning_effort } },
  })
  return `from anthropic import Anthropic

client = Anthropic(base_url="${origin}", auth_token="${key}")

${
  stream
    ? `with client.messages.stream(\n${call}) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`
    : `reply = client.messages.create(\n${call})
print("".join(block.text for block in reply.content if block.type == "text"))`
}`
}

function writeLangChain(body: ChatBody, { origin, key }: Access): string {
  const { messages, stream, stream_options: _, ...settings } = body
  const model = writeArguments({
    base_url: `${origin}/v1`,
    api_key: key,
    ...settings,
    stream_usage: stream,
  })
  return `from langchain_openai import ChatOpenAI

model = ChatOpenAI(\n${model})
messages = ${writeValue(messages, '')}

${
  stream
    ? `for chunk in model.stream(messages):
    print(chunk.text, end="", flush=True)`
    : `print(model.invoke(messages).text)`
}`
}

/** Writes named arguments, one per line. */
function writeArguments(values: Record<string, unknown>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}=${writeValue(value, '    ')},\n`)
    .join('')
}

/** Writes a JSON value in Python. JSON's texts and numbers are Python's, too. */
function writeValue(value: unknown, indent: string): string {
  if (value === true) return 'True'
  if (Array.isArray(value))
    return `[\n${value.map((one) => `${indent}    ${writeValue(one, `${indent}    `)},\n`).join('')}${indent}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}: ${writeValue(one, indent)}`,
    )
    return `{${members.join(', ')}}`
  }
  return JSON.stringify(value)
}
