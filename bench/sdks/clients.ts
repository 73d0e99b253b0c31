// The clients and how each one runs: a script that prints a line per check, or a terminal agent
// with the configuration of the API keys page.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { snippetGroups } from '../../web/src/api-keys/snippet-text.ts'
import { type Client as PlaygroundClient, writeCode } from '../../web/src/playground/code.ts'
import { buildBody, NEW_SETTINGS } from '../../web/src/playground/request.ts'
import { type Ended, ran } from './child.ts'
import { AGENTS, HERE, installNpm, installPython, JAVASCRIPT, PATH } from './install.ts'

export const MODELS = ['gpt-6.1-terra', 'claude-sonnet-5-5', 'gemini-3.8-flash']
const EMBEDDERS = {
  'gpt-6.1-terra': 'text-embedding-3-small',
  'gemini-3.8-flash': 'gemini-embedding-2',
}

export type At = { url: string; key: string }
export type Step = { model: string; check: string; ok: boolean; told?: string }
export type Walked = { version: string; steps: Step[] }
export type Client = { name: string; walk(at: At): Promise<Walked> }

const PLAYGROUND = 'playground '
const WALK_MS_MAX = 240_000
const SNIPPET_MS_MAX = 60_000
const AGENT_MS_MAX = 120_000

/** An agent passes when the result of its tool, or the sandbox's text, is in its output. */
type Agent = {
  name: string
  snippet: string
  package: string
  /** Appended to the snippet; the whole command when the snippet is a file. */
  command: string
  file?: string
  says: RegExp
  /** Additional snippets, run once. */
  also?: { snippet: string; command: string; says: RegExp }[]
}

export const CLIENTS: Client[] = [
  curl(),
  javascript('openai (JavaScript)', 'openai', ['javascript', 'playground typescript']),
  python('openai (Python)', 'openai', ['python', 'playground python']),
  javascript('anthropic (JavaScript)', 'anthropic'),
  python('anthropic (Python)', 'anthropic', ['anthropic', 'playground anthropic']),
  javascript('AI SDK', 'ai-sdk', ['ai-sdk']),
  javascript('LangChain (JavaScript)', 'langchain'),
  python('LangChain (Python)', 'langchain', ['langchain', 'playground langchain']),
  python('pydantic-ai', 'pydantic_ai'),
  python('openai-agents', 'openai_agents'),
  python('LlamaIndex', 'llamaindex'),
  python('instructor', 'instructor'),
  python('LiteLLM', 'litellm'),
  python('llm', 'llm'),
  python('aider', 'aider'),
  agent({
    name: 'Claude Code',
    snippet: 'claude-code',
    package: '@anthropic-ai/claude-code',
    command: ' -p "say hi using bash" --allowedTools Bash',
    says: /The tool Bash answered/,
    also: [
      { snippet: 'mcp-claude-code', command: '\nclaude mcp list', says: /latchkey.*Connected/ },
    ],
  }),
  agent({
    name: 'Codex',
    snippet: 'codex',
    package: '@openai/codex',
    file: '.codex/config.toml',
    command: 'codex exec --skip-git-repo-check -s danger-full-access "say hi using the shell"',
    says: /The tool \w+ answered/,
  }),
  agent({
    name: 'opencode',
    snippet: 'opencode',
    package: 'opencode-ai',
    file: 'opencode.json',
    command: 'opencode run "say hi using bash"',
    says: /The tool bash answered/,
  }),
  agent({
    name: 'Continue',
    snippet: 'continue',
    package: '@continuedev/cli',
    file: '.continue/config.yaml',
    command: 'cn --config "$HOME/.continue/config.yaml" -p "hello"',
    says: /Sandbox model/,
  }),
]

function python(name: string, walk: string, snippets: string[] = []): Client {
  return {
    name,
    async walk(at) {
      const interpreter = installPython(walk)
      const env = { ...buildEnv(at), PYTHONDONTWRITEBYTECODE: '1' }
      const walked = await runWalk(
        interpreter,
        [join(HERE, 'python', `walk_${walk}.py`)],
        HERE,
        env,
      )
      const run = (text: string) =>
        ran(interpreter, ['-c', text], { cwd: HERE, env, msMax: SNIPPET_MS_MAX })
      return withSnippets(walked, snippets, at, run)
    },
  }
}

function javascript(name: string, walk: string, snippets: string[] = []): Client {
  return {
    name,
    async walk(at) {
      installNpm(JAVASCRIPT)
      const env = buildEnv(at)
      const walked = await runWalk(process.execPath, [`${walk}.js`], JAVASCRIPT, env)
      const run = (text: string) =>
        ran(process.execPath, ['--input-type=module', '--eval', text], {
          cwd: JAVASCRIPT,
          env,
          msMax: SNIPPET_MS_MAX,
        })
      return withSnippets(walked, snippets, at, run)
    },
  }
}

function curl(): Client {
  return {
    name: 'curl',
    async walk(at) {
      const version = execFileSync('curl', ['--version'], { encoding: 'utf8' }).split(' ')[1] ?? ''
      const run = (text: string) =>
        ran('sh', ['-c', text], { cwd: HERE, env: buildEnv(at), msMax: SNIPPET_MS_MAX })
      await ingestLease(at)
      return withSnippets({ version, steps: [] }, ['curl', 'ask', 'playground curl'], at, run)
    },
  }
}

/** Stores the document that the query snippet asks about. */
async function ingestLease({ url, key }: At): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    content: 'The lease says that the keys are given back on the last day.',
  })
  const reply = await fetch(`${url}/api/rag/ingest/text`, { method: 'POST', headers, body })
  if (!reply.ok) throw new Error(`ingesting failed: ${reply.status} ${await reply.text()}`)
}

function agent({ name, snippet, package: of, command, file, says, also = [] }: Agent): Client {
  return {
    name,
    async walk(at) {
      installNpm(AGENTS)
      const manifest = readFileSync(join(AGENTS, 'node_modules', of, 'package.json'), 'utf8')
      const { version } = JSON.parse(manifest) as { version: string }
      const steps: Step[] = []
      for (const model of MODELS) {
        const text = snippetText(snippet, model, at)
        const ended = await inHome(async (home) => {
          if (file !== undefined) {
            mkdirSync(dirname(join(home, file)), { recursive: true })
            writeFileSync(join(home, file), text)
          }
          const exported = /export \w+=\S+/.exec(text)?.[0]
          const script =
            file === undefined ? text + command : [exported, command].filter(Boolean).join('\n')
          return ran('sh', ['-c', script], { cwd: home, env: agentEnv(home), msMax: AGENT_MS_MAX })
        })
        steps.push({ model, check: 'snippet', ...judged(ended, says) })
      }
      for (const extra of also) {
        const script = snippetText(extra.snippet, '', at) + extra.command
        const ended = await inHome((home) =>
          ran('sh', ['-c', script], { cwd: home, env: agentEnv(home), msMax: AGENT_MS_MAX }),
        )
        steps.push({ model: '', check: `snippet ${extra.snippet}`, ...judged(ended, extra.says) })
      }
      return { version, steps }
    },
  }
}

/**
 * Runs each model with a separate home folder, so that no agent uses memory or this machine's
 * configuration.
 */
async function inHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'latchkey-agent-'))
  try {
    return await work(home)
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  }
}

function agentEnv(home: string): Record<string, string> {
  return {
    PATH: [join(AGENTS, 'node_modules', '.bin'), PATH].join(delimiter),
    HOME: home,
    CI: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CONTINUE_TELEMETRY_ENABLED: '0',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  }
}

async function runWalk(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Walked> {
  const ended = await ran(command, args, { cwd, env, msMax: WALK_MS_MAX })
  const lines = ended.out.split('\n').filter((line) => line.startsWith('{'))
  const reports = lines.map((line) => JSON.parse(line) as Partial<Step> & { version?: string })
  const steps = reports.filter((line): line is Step => line.check !== undefined)
  if (ended.status !== 0) steps.push({ model: '', check: 'all', ok: false, told: whyNot(ended) })
  return { version: reports.find(({ version }) => version !== undefined)?.version ?? '?', steps }
}

/** Runs the unchanged snippets of the API keys page and of the playground. */
async function withSnippets(
  { version, steps }: Walked,
  ids: string[],
  at: At,
  run: (text: string) => Promise<Ended>,
): Promise<Walked> {
  const ofSnippets: Step[] = []
  for (const id of ids) {
    for (const model of MODELS) {
      const ended = await run(snippetText(id, model, at))
      ofSnippets.push({ model, check: `snippet ${id}`, ...judged(ended, /Sandbox model/) })
    }
  }
  return { version, steps: [...steps, ...ofSnippets] }
}

function snippetText(id: string, model: string, { url, key }: At): string {
  if (id.startsWith(PLAYGROUND)) {
    const client = id.slice(PLAYGROUND.length) as PlaygroundClient
    // curl prints the words of a stream in separate events.
    const streams = client !== 'curl'
    const settings = { ...NEW_SETTINGS, model, system: 'It’s a "test".', maxTokens: 300, streams }
    const body = buildBody(settings, [{ role: 'user', content: "What's new?\nHello" }])
    return writeCode(client, body, { origin: url, key })
  }
  const snippets = snippetGroups({ origin: url, model, key, brand: 'Latchkey' }).flatMap(
    (one) => one.snippets,
  )
  const found = snippets.find((one) => one.id === id)
  if (found === undefined) throw new Error(`the keys page has no snippet ${id}`)
  return found.text
}

function judged(ended: Ended, says: RegExp): { ok: boolean; told?: string } {
  return ended.status === 0 && says.test(ended.out)
    ? { ok: true }
    : { ok: false, told: whyNot(ended) }
}

function whyNot({ late, status, out, error }: Ended): string {
  if (late) return `timed out: ${tail(out + error)}`
  return `ended with ${status}: ${tail(`${out}\n${error}`)}`
}

function tail(text: string): string {
  return text.trim().slice(-600)
}

function buildEnv({ url, key }: At): Record<string, string> {
  return {
    PATH,
    HOME: tmpdir(),
    LATCHKEY_URL: url,
    LATCHKEY_KEY: key,
    LATCHKEY_MODELS: MODELS.join(' '),
    LATCHKEY_EMBEDDERS: JSON.stringify(EMBEDDERS),
  }
}
