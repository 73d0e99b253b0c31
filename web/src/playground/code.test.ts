// The programs run here with a shell, a stand-in for OpenAI's class, and Python where it exists.
// `npm run bench -- sdks` runs them with the real clients.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { type Client, writeCode } from './code.ts'
import { buildBody, type ChatBody, NEW_SETTINGS } from './request.ts'

const ACCESS = { origin: 'http://localhost:8000', key: 'lk_1' }
const HARD = 'It\'s "quoted" \\n\n$HOME `date` {x} %s – “ü” 🚲'

const SETTINGS = {
  ...NEW_SETTINGS,
  model: 'gpt-6-luna',
  system: HARD,
  temperature: 0.2,
  topP: 0.9,
  maxTokens: 300,
  effort: 'low' as const,
}
const MESSAGES = [
  { role: 'user' as const, content: HARD },
  { role: 'assistant' as const, content: 'model: "x"\n  "role": 1' },
  { role: 'user' as const, content: 'And now?' },
]
const BODIES = {
  'a stream': buildBody(SETTINGS, MESSAGES),
  'a whole answer': buildBody({ ...SETTINGS, streams: false }, MESSAGES),
  'the defaults': buildBody({ ...NEW_SETTINGS, model: 'gpt-6-luna' }, MESSAGES.slice(-1)),
}

for (const [name, body] of Object.entries(BODIES)) {
  test(`curl sends the playground’s request: ${name}`, () => {
    const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${writeCode('curl', body, ACCESS)}`
    const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
    assert.ok(given.includes('http://localhost:8000/v1/chat/completions'))
    assert.ok(given.includes('Authorization: Bearer lk_1'))
    assert.deepEqual(JSON.parse(given[given.indexOf('-d') + 1] ?? ''), body)
  })

  test(`TypeScript sends the playground’s request: ${name}`, async () => {
    const code = writeCode('typescript', body, ACCESS).split('\n').slice(1).join('\n')
    const sent: unknown[] = []
    class OpenAI {
      readonly chat = { completions: { create: async (given: unknown) => this.#reply(given) } }
      constructor(options: unknown) {
        sent.push(options)
      }
      #reply(given: unknown) {
        sent.push(given)
        return body.stream ? [] : { choices: [{ message: { content: 'Hi' } }] }
      }
    }
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
    await new AsyncFunction('OpenAI', 'console', code)(OpenAI, { log: () => undefined })
    assert.deepEqual(sent, [{ baseURL: 'http://localhost:8000/v1', apiKey: 'lk_1' }, body])
  })

  test(`Python passes the playground’s request to its clients: ${name}`, (t) => {
    if (spawnSync('python3', ['--version']).status !== 0) return t.skip('no Python')
    const { stream_options, ...members } = body
    const { stream: _, messages, ...settings } = members
    assert.deepEqual(runPython('python', body), body)
    assert.deepEqual(runPython('langchain', body), {
      ...settings,
      base_url: 'http://localhost:8000/v1',
      api_key: 'lk_1',
      ...(stream_options && { stream_usage: true }),
      messages,
    })
    const { max_tokens = 4_096, reasoning_effort: effort, ...rest } = settings
    assert.deepEqual(runPython('anthropic', body), {
      ...rest,
      max_tokens,
      ...(messages[0]?.role === 'system' && { system: messages[0].content }),
      ...(effort && { extra_body: { output_config: { effort } } }),
      messages: messages.filter(({ role }) => role !== 'system'),
    })
  })
}

/** Runs the program with stand-ins that print the arguments of its call. */
function runPython(client: Client, body: ChatBody): unknown {
  const standIn = `
import json, sys, types

class Reply:
    choices = []; content = []; text = ""
    message = property(lambda self: self)
    text_stream = []
    def __iter__(self): return iter([])
    def __enter__(self): return self
    def __exit__(self, *_): pass

def send(**given):
    print(json.dumps(given))
    reply = Reply()
    reply.choices = [reply]
    return reply

class Client:
    def __init__(self, **options): self.options = options
    chat = property(lambda self: types.SimpleNamespace(completions=types.SimpleNamespace(create=send)))
    messages = types.SimpleNamespace(create=send, stream=send)
    def stream(self, messages): return send(**self.options, messages=messages)
    def invoke(self, messages): return send(**self.options, messages=messages)

for name, member in [("openai", "OpenAI"), ("anthropic", "Anthropic"), ("langchain_openai", "ChatOpenAI")]:
    sys.modules[name] = types.ModuleType(name)
    setattr(sys.modules[name], member, Client)
`
  const code = standIn + writeCode(client, body, ACCESS)
  const output = execFileSync('python3', ['-c', code], { encoding: 'utf8' })
  return JSON.parse(output.split('\n')[0] ?? '')
}
