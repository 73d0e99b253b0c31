// Whole turns of agents in their own shapes: Claude Code's at the messages door, Codex' two forms
// at responses.
import assert from 'node:assert/strict'
import { joinText, listParts, listResults, requireComplete, requireRefusal } from './checks.ts'
import type { Case } from './matrix.ts'
import { type Json, sealReasoning, type VendorName } from './words.ts'

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
          { type: 'thinking', thinking: 'Hmm.', signature: sealReasoning('anthropic', 'Hmm.') },
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
  properties: {
    cmd: { type: 'string', description: 'Shell command' },
    yield_time_ms: { type: 'number' },
  },
  required: ['cmd'],
  additionalProperties: false,
}

const inputText = (words: string) => ({ type: 'input_text', text: words })

function codexHead(vendor: VendorName): Json[] {
  return [
    { type: 'message', id: 'msg_1', role: 'developer', content: [inputText(RULES)] },
    {
      type: 'message',
      id: 'msg_2',
      role: 'developer',
      content: [inputText('Sandboxed.'), inputText('No network.')],
    },
    {
      type: 'message',
      id: 'msg_3',
      role: 'user',
      content: [inputText('You are in a folder. (cell)')],
    },
    { type: 'message', id: 'msg_4', role: 'user', content: [inputText('say hi using the shell')] },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Thinking it over' }],
      content: null,
      // This vendor can neither read nor create another vendor's reasoning.
      encrypted_content: sealReasoning(vendor, 'Thinking it over'),
    },
  ]
}

const CODEX_MORE = {
  stream: true,
  tool_choice: 'auto',
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a1ff8f-d448-7f02-820e-fb5473ff5069',
  client_metadata: {
    session_id: '01a1ff8f-d448-7f02-820e-fb5473ff5069',
    'x-codex-window-id': '01a1ff8f:0',
  },
}

/** Codex' format for an unknown model. */
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
      {
        type: 'function_call_output',
        id: 'fco_1',
        call_id: 'call_1',
        output: 'Exit code: 0, output: recorded',
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'exec_command',
        description: 'Runs a command',
        strict: false,
        parameters: EXEC,
      },
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

/** Codex' format for GPT-6, with tools in the input. */
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

const READ_FILE = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const PATCH_TOOL = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'Applies a patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
}
const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+hi "there"\n*** End Patch'

/** Cursor's agent mode: a Responses body, sent to chat completions. */
function cursorAgentTurn(model: string): Json {
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    input: [
      { role: 'system', content: 'You edit files.' },
      { role: 'user', content: [inputText('Add a file. (cell)')] },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'read_file',
        arguments: '{"path":"a.txt"}',
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'recorded' },
    ],
    tools: [
      { type: 'function', name: 'read_file', description: 'Reads a file', parameters: READ_FILE },
      PATCH_TOOL,
    ],
    tool_choice: 'auto',
    max_output_tokens: 4_000,
  }
}

/**
 * Cursor's ask mode: nested and flat tools side by side. A text tool's earlier call repeats the
 * text that Cursor received.
 */
function cursorAskTurn(model: string): Json {
  return {
    model,
    max_tokens: 4_000,
    messages: [
      { role: 'user', content: 'Add a file. (cell)' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'ApplyPatch', arguments: PATCH } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'recorded' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'list_files', parameters: { type: 'object', properties: {} } },
      },
      { type: 'function', name: 'read_file', description: 'Reads a file', parameters: READ_FILE },
      PATCH_TOOL,
    ],
  }
}

/**
 * Cursor's requests for models whose name contains `claude`: Anthropic's tools and blocks in a chat
 * completion.
 */
function cursorClaudeTurn(model: string): Json {
  return {
    model,
    max_tokens: 4_000,
    messages: [
      { role: 'system', content: 'You edit files.' },
      { role: 'user', content: [text('Read a file. (cell)')] },
      {
        role: 'assistant',
        content: [
          text('I read.'),
          { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'recorded' }],
      },
    ],
    tools: [{ name: 'read_file', description: 'Reads a file', input_schema: READ_FILE }],
    tool_choice: { type: 'auto' },
  }
}

/** An answer in which Anthropic searched, ran a connector's tool and compacted the conversation. */
function anthropicServerTurn(model: string): Json {
  return {
    model,
    max_tokens: 4_000,
    messages: [
      { role: 'user', content: 'A question that the summary replaces. (cell)' },
      {
        role: 'assistant',
        content: [{ type: 'compaction', content: 'We talked about Vienna. (cell)' }],
      },
      { role: 'user', content: 'What is the weather?' },
      {
        role: 'assistant',
        content: [
          {
            type: 'server_tool_use',
            id: 'srvtoolu_1',
            name: 'web_search',
            input: { query: 'weather' },
          },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          text('I look it up.'),
          {
            type: 'mcp_tool_use',
            id: 'mcptoolu_1',
            name: 'lookup',
            server_name: 'city',
            input: { city: 'Vienna' },
          },
          {
            type: 'mcp_tool_result',
            tool_use_id: 'mcptoolu_1',
            is_error: false,
            content: [text('9 degrees')],
          },
          text('It is cold.'),
        ],
      },
      { role: 'user', content: 'And tomorrow?' },
    ],
  }
}

/** A conversation in which OpenAI's shell, patch and connector tools were used. */
function openaiServerTurn(model: string): Json {
  return {
    model,
    input: [
      { type: 'message', role: 'user', content: [inputText('Fix the file. (cell)')] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'call_1',
        status: 'completed',
        action: { commands: ['ls -l'] },
      },
      {
        type: 'shell_call_output',
        call_id: 'call_1',
        output: [{ stdout: 'a.txt recorded', stderr: '' }],
      },
      {
        type: 'apply_patch_call',
        id: 'ap_1',
        call_id: 'call_2',
        status: 'completed',
        operation: { type: 'update_file', path: 'a.txt', diff: '+hi' },
      },
      {
        type: 'apply_patch_call_output',
        call_id: 'call_2',
        status: 'completed',
        output: 'patched',
      },
      {
        type: 'mcp_call',
        id: 'mcp_1',
        server_label: 'city',
        name: 'lookup',
        arguments: '{"city":"Wien"}',
        output: '9 degrees',
      },
      { type: 'message', role: 'user', content: [inputText('Done?')] },
    ],
  }
}

export const AGENT_CASES: readonly Case[] = [
  {
    name: 'Cursor’s agent mode: a Responses body at chat completions',
    doors: ['chat completions'],
    async run({ send, model }) {
      const calls = [{ name: 'ApplyPatch', args: { input: PATCH } }]
      const { told, heard } = await send(cursorAgentTurn(model('thinking')), { says: { calls } })
      requireComplete(told, { calls })
      assert.match(heard.system, /You edit files/)
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
      assert.deepEqual(
        heard.tools.map(({ name }) => name),
        ['read_file', 'ApplyPatch'],
      )
      assert.equal(shownArguments(told.raw), PATCH)
    },
  },
  {
    name: 'Cursor’s ask mode: nested and flat tools',
    doors: ['chat completions'],
    async run({ send, model }) {
      const { told, heard } = await send(cursorAskTurn(model('plain')), { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.deepEqual(
        heard.tools.map(({ name }) => name),
        ['list_files', 'read_file', 'ApplyPatch'],
      )
      assert.deepEqual(listParts(heard, 'call')[0]?.args, { input: PATCH })
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
    },
  },
  {
    name: 'Cursor with a Claude model: Anthropic’s tools and blocks',
    doors: ['chat completions'],
    async run({ send, model }) {
      const { told, heard } = await send(cursorClaudeTurn(model('plain')), { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.equal(heard.tools[0]?.name, 'read_file')
      assert.deepEqual(listParts(heard, 'call')[0]?.args, { path: 'a.txt' })
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
    },
  },
  {
    name: 'a conversation with Anthropic’s own blocks moves to another vendor',
    doors: ['messages'],
    async run({ send, model, vendor }) {
      if (vendor === 'anthropic') return
      const { told, heard } = await send(anthropicServerTurn(model('plain')), {
        says: { text: TEXT },
      })
      requireComplete(told, { text: TEXT })
      const words = joinText(heard)
      for (const turn of [
        'We talked about Vienna.',
        'I look it up.',
        'It is cold.',
        'And tomorrow?',
      ])
        assert.ok(words.includes(turn), turn)
      assert.ok(!words.includes('A question that the summary replaces.'))
      assert.deepEqual(
        listParts(heard, 'call').map(({ name, args }) => ({ name, args })),
        [{ name: 'lookup', args: { city: 'Vienna' } }],
      )
      assert.match(listResults(heard)[0]?.text ?? '', /9 degrees/)
    },
  },
  {
    name: 'a conversation with OpenAI’s own items moves to another vendor',
    doors: ['responses'],
    async run({ send, model, vendor }) {
      if (vendor === 'openai') return
      const { told, heard } = await send(openaiServerTurn(model('plain')), { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.deepEqual(
        listParts(heard, 'call').map(({ name }) => name),
        ['shell', 'apply_patch', 'lookup'],
      )
      const results = listResults(heard).map(({ text }) => text)
      for (const [index, said] of ['a.txt recorded', 'patched', '9 degrees'].entries())
        assert.ok(results[index]?.includes(said), said)
    },
  },
  {
    name: 'Claude Code’s second turn',
    doors: ['messages'],
    async run({ send, model, vendor }) {
      const { told, heard } = await send(
        claudeCodeTurn(model('thinking')),
        { says: { text: TEXT } },
        { path: '/v1/messages?beta=true', headers: { 'anthropic-beta': BETAS.join(',') } },
      )
      requireComplete(told, { text: TEXT })
      for (const words of ['You are an agent.', RULES.trim(), 'The date has changed.'])
        assert.ok(heard.system.includes(words), words)
      assert.deepEqual(
        heard.tools.map(({ name }) => name),
        ['Agent', 'Bash'],
      )
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
      assert.equal(heard.effort, 'high')
      if (vendor !== 'anthropic') return
      assert.equal(heard.marks, 3)
      assert.equal(listParts(heard, 'thought').length, 1)
      assert.ok(heard.body.context_management)
      for (const beta of BETAS)
        assert.ok(String(heard.headers['anthropic-beta']).includes(beta), beta)
    },
  },
  {
    name: 'a prompt’s tokens are counted',
    doors: ['messages'],
    async run({ send, model, vendor }) {
      const {
        stream: _,
        max_tokens: __,
        metadata: ___,
        ...body
      } = claudeCodeTurn(model('thinking'))
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
    name: 'Codex’ second turn, in its format for unknown models',
    doors: ['responses'],
    async run({ send, model, vendor }) {
      const { told, heard } = await send(codexTurn(model('thinking'), vendor), {
        says: { text: TEXT },
      })
      requireComplete(told, { text: TEXT })
      assert.ok(heard.system.includes(RULES.trim()) && heard.system.includes('No network.'))
      assert.ok(joinText(heard).includes('say hi using the shell'))
      assert.ok(heard.tools.some(({ name }) => name === 'exec_command'))
      assert.ok(heard.tools.some(({ name }) => name.includes('spawn_agent')))
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
    },
  },
  {
    name: 'Codex’ second turn, in its format for GPT-6',
    doors: ['responses'],
    async run({ send, model, vendor }) {
      const headers = { 'x-openai-internal-codex-responses-lite': 'true' }
      const body = codexOwnTurn(model('thinking'), vendor)
      const { told, heard, all } = await send(body, { says: { text: TEXT } }, { headers })
      if (all.length === 0) return requireRefusal(told, /tool/)
      requireComplete(told, { text: TEXT })
      assert.match(listResults(heard)[0]?.text ?? '', /recorded/)
      assert.ok(heard.tools.some(({ name }) => name.includes('wait')))
      if (vendor !== 'openai') return
      const { input: _, ...rest } = body
      const { safety_identifier: _own, ...own } = heard.body
      assert.deepEqual({ ...own, input: null }, { ...rest, input: null })
      assert.equal(heard.headers['x-openai-internal-codex-responses-lite'], 'true')
    },
  },
]

/** The arguments of the streamed calls, joined as a client joins them. */
function shownArguments(stream: string): string {
  const chunks = stream
    .split('\n\n')
    .flatMap((block) => (/^data: \{/.test(block) ? [JSON.parse(block.slice(6))] : []))
  return chunks
    .flatMap((chunk) => chunk.choices?.[0]?.delta?.tool_calls ?? [])
    .map((call) => call.function.arguments)
    .join('')
}
