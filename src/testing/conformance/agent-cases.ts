// Whole turns of agents, in the shapes that they send: Claude Code's at the messages door, Codex' two forms at responses.
import assert from 'node:assert/strict'
import { partsOf, refusedInWords, resultsOf, well, wordsOf } from './checks.ts'
import type { Case } from './matrix.ts'
import { type Json, sealOf, type VendorName } from './words.ts'

const TEXT = 'Done: recorded.'
const RULES = 'A rule that every answer shall follow. '.repeat(60)
const EPHEMERAL = { type: 'ephemeral' }
const text = (words: string, more: Json = {}) => ({ type: 'text', text: words, ...more })

const BASH = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { command: { type: 'string' }, timeout: { type: 'number', exclusiveMinimum: 0 } },
  required: ['command'],
  additionalProperties: false,
}

const BETAS = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'thinking-token-count-2026-05-13',
  'context-management-2025-06-27',
  'prompt-caching-scope-2026-01-05',
  'mid-conversation-system-2026-04-07',
  'effort-2025-11-24',
]

function claudeCodeTurn(model: string): Json {
  return {
    model,
    messages: [
      { role: 'user', content: [text('You are in a folder. (cell)'), text('say hi using bash')] },
      { role: 'system', content: 'The date has changed.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hmm.', signature: sealOf('anthropic', 'Hmm.') },
          { type: 'tool_use', id: 'toolu_01', name: 'Bash', input: { command: 'echo recorded' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            tool_use_id: 'toolu_01',
            type: 'tool_result',
            content: 'recorded',
            is_error: false,
            cache_control: EPHEMERAL,
          },
        ],
      },
    ],
    system: [
      text('You are an agent.'),
      text('You run in a terminal.', { cache_control: EPHEMERAL }),
      text(RULES, { cache_control: EPHEMERAL }),
    ],
    tools: [
      {
        name: 'Agent',
        description: 'Starts another',
        input_schema: { ...BASH, properties: { command: { type: 'string' } } },
      },
      { name: 'Bash', description: 'Runs a command', input_schema: BASH },
    ],
    metadata: { user_id: 'user_1_account__session_2' },
    max_tokens: 64_000,
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
  }
}

const EXEC = {
  type: 'object',
  properties: { cmd: { type: 'string', description: 'Shell command' }, yield_time_ms: { type: 'number' } },
  required: ['cmd'],
  additionalProperties: false,
}

const inputText = (words: string) => ({ type: 'input_text', text: words })

function codexHead(vendor: VendorName): Json[] {
  return [
    { type: 'message', id: 'msg_1', role: 'developer', content: [inputText(RULES)] },
    { type: 'message', id: 'msg_2', role: 'developer', content: [inputText('Sandboxed.'), inputText('No network.')] },
    { type: 'message', id: 'msg_3', role: 'user', content: [inputText('You are in a folder. (cell)')] },
    { type: 'message', id: 'msg_4', role: 'user', content: [inputText('say hi using the shell')] },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Thinking it over' }],
      content: null,
      // Another vendor's could not be read by this one, nor be made by it.
      encrypted_content: sealOf(vendor, 'Thinking it over'),
    },
  ]
}

const CODEX_MORE = {
  stream: true,
  tool_choice: 'auto',
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a1ff8f-d448-7f02-820e-fb5473ff5069',
  client_metadata: { session_id: '01a1ff8f-d448-7f02-820e-fb5473ff5069', 'x-codex-window-id': '01a1ff8f:0' },
}

/** As Codex speaks to a model that it does not know. */
function codexTurn(model: string, vendor: VendorName): Json {
  return {
    model,
    input: [
      ...codexHead(vendor),
      {
        type: 'function_call',
        status: 'completed',
        id: 'fc_1',
        name: 'exec_command',
        arguments: '{"cmd":"echo recorded"}',
        call_id: 'call_1',
      },
      { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: 'Exit code: 0, output: recorded' },
    ],
    tools: [
      { type: 'function', name: 'exec_command', description: 'Runs a command', strict: false, parameters: EXEC },
      {
        type: 'namespace',
        name: 'collaboration',
        description: 'Other agents',
        tools: [
          {
            type: 'function',
            name: 'spawn_agent',
            description: 'Starts one',
            strict: false,
            parameters: { type: 'object', properties: { task: { type: 'string' } } },
          },
        ],
      },
      { type: 'web_search', external_web_access: false },
    ],
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    ...CODEX_MORE,
  }
}

/** As Codex speaks to GPT-6: its tools stand in the input. */
function codexOwnTurn(model: string, vendor: VendorName): Json {
  return {
    model,
    input: [
      {
        type: 'additional_tools',
        id: 'at_1',
        role: 'developer',
        tools: [
          {
            type: 'namespace',
            name: 'functions',
            description: '',
            tools: [
              {
                type: 'custom',
                name: 'exec',
                description: 'Runs a program',
                format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
              },
              {
                type: 'function',
                name: 'wait',
                description: 'Waits',
                strict: false,
                parameters: {
                  type: 'object',
                  properties: { ms: { type: 'number' } },
                  required: ['ms'],
                  additionalProperties: false,
                },
              },
            ],
          },
        ],
      },
      ...codexHead(vendor),
      {
        type: 'custom_tool_call',
        id: 'ctc_1',
        status: 'completed',
        call_id: 'call_1',
        name: 'exec',
        input: 'echo recorded',
      },
      {
        type: 'custom_tool_call_output',
        id: 'ctco_1',
        call_id: 'call_1',
        output: [inputText('Exit code: 0'), inputText('recorded\n')],
      },
    ],
    parallel_tool_calls: false,
    reasoning: { effort: 'low', context: 'all_turns' },
    text: { verbosity: 'low' },
    ...CODEX_MORE,
  }
}

export const AGENT_CASES: readonly Case[] = [
  {
    name: 'Claude Code’s second turn',
    doors: ['messages'],
    async run({ send, model, vendor }) {
      const { told, heard } = await send(
        claudeCodeTurn(model('thinking')),
        { says: { text: TEXT } },
        { path: '/v1/messages?beta=true', headers: { 'anthropic-beta': BETAS.join(',') } },
      )
      well(told, { text: TEXT })
      for (const words of ['You are an agent.', RULES.trim(), 'The date has changed.'])
        assert.ok(heard.system.includes(words), words)
      assert.deepEqual(
        heard.tools.map(({ name }) => name),
        ['Agent', 'Bash'],
      )
      assert.match(resultsOf(heard)[0]?.text ?? '', /recorded/)
      assert.equal(heard.effort, 'high')
      if (vendor !== 'anthropic') return
      assert.equal(heard.marks, 3)
      assert.equal(partsOf(heard, 'thought').length, 1)
      assert.ok(heard.body.context_management)
      for (const beta of BETAS) assert.ok(String(heard.headers['anthropic-beta']).includes(beta), beta)
    },
  },
  {
    name: 'a prompt’s tokens are counted',
    doors: ['messages'],
    async run({ send, model, vendor }) {
      const { stream: _, max_tokens: __, metadata: ___, ...body } = claudeCodeTurn(model('thinking'))
      const tokens = { prompt: 4_321, completion: 0 }
      const { told } = await send(
        body,
        { says: { tokens } },
        { path: '/v1/messages/count_tokens', headers: { 'anthropic-beta': BETAS.join(',') } },
      )
      assert.equal(told.status, 200, told.raw)
      const { input_tokens: counted } = JSON.parse(told.raw) as { input_tokens: number }
      if (vendor === 'anthropic') assert.equal(counted, 4_321)
      else assert.ok(counted > 500 && counted < 5_000, `${counted}`)
    },
  },
  {
    name: 'Codex’ second turn, as it speaks to models that it does not know',
    doors: ['responses'],
    async run({ send, model, vendor }) {
      const { told, heard } = await send(codexTurn(model('thinking'), vendor), { says: { text: TEXT } })
      well(told, { text: TEXT })
      assert.ok(heard.system.includes(RULES.trim()) && heard.system.includes('No network.'))
      assert.ok(wordsOf(heard).includes('say hi using the shell'))
      assert.ok(heard.tools.some(({ name }) => name === 'exec_command'))
      assert.ok(heard.tools.some(({ name }) => name.includes('spawn_agent')))
      assert.match(resultsOf(heard)[0]?.text ?? '', /recorded/)
    },
  },
  {
    name: 'Codex’ second turn, as it speaks to GPT-6',
    doors: ['responses'],
    async run({ send, model, vendor }) {
      const headers = { 'x-openai-internal-codex-responses-lite': 'true' }
      const body = codexOwnTurn(model('thinking'), vendor)
      const { told, heard, all } = await send(body, { says: { text: TEXT } }, { headers })
      if (all.length === 0) return refusedInWords(told, /tool/)
      well(told, { text: TEXT })
      assert.match(resultsOf(heard)[0]?.text ?? '', /recorded/)
      assert.ok(heard.tools.some(({ name }) => name.includes('wait')))
      if (vendor !== 'openai') return
      const { input: _, ...rest } = body
      const { safety_identifier: _own, ...own } = heard.body
      assert.deepEqual({ ...own, input: null }, { ...rest, input: null })
      assert.equal(heard.headers['x-openai-internal-codex-responses-lite'], 'true')
    },
  },
]
