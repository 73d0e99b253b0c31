// The cases of the conformance matrix: the client's request, the vendor's behaviour, and the
// expected results on both sides.
// Each case runs at every API on every vendor's model; a clear rejection is correct where a vendor
// lacks the feature.
import assert from 'node:assert/strict'
import { AGENT_CASES } from './agent-cases.ts'
import {
  joinText,
  listMedia,
  listParts,
  listResults,
  requireComplete,
  requireRefusal,
} from './checks.ts'
import type { Answered, Case, Cell, CellAsk } from './matrix.ts'
import type { Refusal } from './strict-vendors.ts'
import {
  type AskTurn,
  asObject,
  type ClientReading,
  type Json,
  type ReceivedRequest,
  type Tool,
  type VendorAnswer,
  type VendorName,
} from './words.ts'

const TEXT = 'Grüß Gott aus Wien, 世界 🚀 “so” geht es.'
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const PDF =
  'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKdHJhaWxlcjw8L1Jvb3QgMSAwIFI+Pgo='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const CITY = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const WEATHER: Tool = { name: 'weather', description: 'Weather of a city', schema: CITY }
const TIME: Tool = { name: 'time', description: 'Local time of a city', schema: CITY }
const CALL = { name: 'weather', args: { city: 'Wien', note: 'ü "quoted"' } }
const OTHER_CALL = { name: 'time', args: { city: 'Graz' } }
const HI: AskTurn = { user: [{ text: 'What is the weather in Wien?' }] }
/** Nineteen digits, like the ids of many databases. */
const LONG_ID = '9223372036854775807'
/** A number that JSON.stringify preserves exactly. */
const exact = (JSON as unknown as { rawJSON(text: string): object }).rawJSON
const ONE_CALL: AskTurn = {
  assistant: '',
  calls: [{ id: 'call_a1', name: 'weather', args: { city: 'Wien' } }],
}

export const CASES: readonly Case[] = [
  { name: 'an answer, whole', run: (cell) => expectAnswer(cell, { text: TEXT }, {}) },
  {
    name: 'an answer, streamed',
    run: (cell) => expectAnswer(cell, { text: TEXT }, { stream: true }),
  },
  // Before the failing cases: after five failures in a row an endpoint is skipped.
  {
    name: 'a temporary failure is retried',
    async run({ ask }) {
      const { told, all } = await ask({}, { refuses: 'failure' }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.equal(all.length, 2)
    },
  },
  { name: 'comments and CRLF in the vendor’s stream', run: (cell) => expectStream(cell, 'crlf') },
  {
    name: 'a stream cut anywhere by the network, also within a character',
    run: (cell) => expectStream(cell, 'split'),
  },
  {
    name: 'the vendor compresses a whole answer',
    run: (cell) => expectAnswer(cell, { text: TEXT }, {}, 'gzip'),
  },
  { name: 'the vendor compresses its stream', run: (cell) => expectStream(cell, 'gzip') },
  { name: 'an empty answer', run: (cell) => expectAnswer(cell, { text: '' }, {}) },
  {
    name: 'tokens are counted, cached ones and cache writes too',
    run: (cell) => counts(cell, { prompt: 5_000, completion: 40, cached: 3_000, written: 1_500 }),
  },
  {
    name: 'reasoning tokens are counted separately',
    run: (cell) => counts(cell, { prompt: 50, completion: 40, reasoning: 30 }),
  },

  {
    name: 'the usage chunk comes last, without choices',
    doors: ['chat completions'],
    async run({ ask }) {
      const { told } = await ask({ stream: true }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.match(told.raw.trimEnd().split('\n\n').at(-2) ?? '', /"choices":\s*\[\]/)
    },
  },
  {
    name: 'system and developer reach the vendor, in their order',
    async run({ ask, door }) {
      const developer: AskTurn[] = door === 'messages' ? [] : [{ developer: 'Answer in German.' }]
      const { told, heard } = await ask(
        { system: [{ text: 'You are brief.' }], turns: [...developer, HI] },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      assert.match(
        heard.system,
        door === 'messages' ? /You are brief\./ : /You are brief\.[\s\S]*Answer in German\./,
      )
    },
  },
  {
    name: 'instructions within the conversation',
    async run({ ask, door }) {
      const headers: Record<string, string> =
        door === 'messages' ? { 'anthropic-beta': 'mid-conversation-system-2026-04-07' } : {}
      const turns: AskTurn[] = [
        HI,
        { assistant: 'Sunny.' },
        { user: [{ text: 'And now?' }] },
        { developer: 'Answer in verse.' },
      ]
      const { told, heard } = await ask({ turns, headers }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.match(heard.system, /Answer in verse/)
    },
  },
  {
    name: 'consecutive turns of one role',
    async run({ ask, isOwn }) {
      const turns: AskTurn[] = [
        HI,
        { user: [{ text: 'In Celsius.' }] },
        { assistant: 'Sunny.' },
        { assistant: 'Warm.' },
        { user: [{ text: 'Sure?' }] },
      ]
      const { told, heard, refusals } = await ask({ turns }, { says: { text: TEXT } })
      if (isOwn && refusals.length > 0) return requireRefusal(told, /alternate/)
      requireComplete(told, { text: TEXT })
      for (const word of ['In Celsius.', 'Sunny.', 'Warm.', 'Sure?'])
        assert.ok(joinText(heard).includes(word), word)
    },
  },
  {
    name: 'empty texts are dropped',
    async run({ ask, isOwn }) {
      const turns: AskTurn[] = [
        { user: [{ text: '' }, { text: 'What is the weather?' }] },
        { assistant: '' },
        { user: [{ text: '' }, { text: '' }] },
        { user: [{ text: 'Well?' }] },
      ]
      const { told, refusals } = await ask({ turns }, { says: { text: TEXT } })
      if (isOwn && refusals.length > 0) return requireRefusal(told, /non-empty|empty/)
      requireComplete(told, { text: TEXT })
    },
  },
  {
    name: 'a conversation that ends with an assistant turn',
    async run({ ask, vendor }) {
      const { told, heard } = await ask(
        { turns: [HI, { assistant: 'The weather is' }] },
        { says: { text: 'fine.' } },
      )
      if (vendor === 'anthropic') return requireRefusal(told, /prefill/)
      requireComplete(told, { text: 'fine.' })
      assert.ok(joinText(heard).includes('The weather is'))
    },
  },
  {
    name: 'a conversation that begins with an assistant turn',
    async run({ ask, isOwn }) {
      const turns: AskTurn[] = [{ assistant: 'How may I help?' }, HI]
      const { told, heard, refusals } = await ask({ turns }, { says: { text: TEXT } })
      if (isOwn && refusals.length > 0) return requireRefusal(told, /first message/)
      requireComplete(told, { text: TEXT })
      assert.ok(joinText(heard).includes('How may I help?'))
    },
  },
  {
    name: 'a limit by its older name',
    doors: ['chat completions'],
    async run({ ask }) {
      const { told, heard } = await ask(
        { kind: 'thinking', limit: null, more: { max_tokens: 321 } },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      assert.equal(heard.limit, 321)
    },
  },
  {
    name: 'a reference to a conversation stored at the vendor',
    doors: ['responses'],
    async run({ ask }) {
      const { told } = await ask(
        { more: { previous_response_id: 'resp_1' } },
        { says: { text: TEXT } },
      )
      return requireRefusal(told, /previous_response_id/)
    },
  },
  {
    name: 'stop sequences',
    doors: ['chat completions', 'messages'],
    async run({ ask, vendor }) {
      const { told, heard } = await ask({ stop: ['END', '###'] }, { says: { text: TEXT } })
      if (vendor === 'openai' && heard.address.endsWith('/responses'))
        return requireRefusal(told, /stop/)
      requireComplete(told, { text: TEXT })
      assert.deepEqual(heard.stop, ['END', '###'])
    },
  },
  {
    name: 'a limit to the answer',
    async run({ ask }) {
      const { told, heard } = await ask({ limit: 321 }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.equal(heard.limit, 321)
    },
  },
  {
    name: 'no limit: up to the model’s longest answer',
    doors: ['chat completions', 'responses'],
    async run({ ask }) {
      const { told, heard } = await ask({ limit: null }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.ok(heard.limit === null || heard.limit >= 64_000, `${heard.limit}`)
    },
  },
  {
    name: 'a temperature for a model that accepts it',
    async run({ ask }) {
      const { told, heard } = await ask(
        { kind: 'warm', temperature: 0.3 },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      assert.equal(heard.temperature, 0.3)
    },
  },
  {
    name: 'a temperature for a model that rejects it',
    async run({ ask, isOwn }) {
      const { told, refusals } = await ask(
        { kind: 'thinking', temperature: 0.3 },
        { says: { text: TEXT } },
      )
      if (isOwn && refusals.length > 0) return requireRefusal(told, /temperature/)
      requireComplete(told, { text: TEXT })
    },
  },
  {
    name: 'an effort',
    async run({ ask }) {
      const { told, heard } = await ask(
        { kind: 'thinking', effort: 'high' },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      assert.equal(heard.effort, 'high')
    },
  },
  {
    name: 'a seed',
    doors: ['chat completions'],
    async run({ ask, vendor }) {
      const { told, heard } = await ask({ more: { seed: 7 } }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      // Claude has no seed, and a seed guarantees nothing.
      if (vendor === 'gemini') assert.match(JSON.stringify(heard.body), /"seed":7/)
      if (vendor === 'openai') assert.equal(heard.body.seed, 7)
    },
  },
  {
    name: 'several choices',
    doors: ['chat completions'],
    async run({ ask, vendor }) {
      const { told, heard } = await ask({ more: { n: 2 } }, { says: { text: TEXT } })
      if (vendor !== 'openai') return requireRefusal(told, /'?n'?\b|one choice|Should be 1/i)
      requireComplete(told, { text: TEXT })
      assert.equal(heard.body.n, 2)
    },
  },
  {
    name: 'a web search by the vendor',
    doors: ['chat completions', 'responses'],
    async run({ ask, vendor, door }) {
      const more =
        door === 'responses' ? { tools: [{ type: 'web_search' }] } : { web_search_options: {} }
      const { told, heard } = await ask({ more }, { says: { text: TEXT } })
      if (vendor !== 'openai' && told.status !== 200) return requireRefusal(told, /web.?search/i)
      requireComplete(told, { text: TEXT })
      assert.match(JSON.stringify(heard.body), /web_?search|google_?search/i)
    },
  },

  {
    name: 'an image',
    run: (cell) =>
      expectFile(cell, { image: { mediaType: 'image/png', data: PNG } }, 'image/png', PNG),
  },
  {
    name: 'an image by URL',
    run: (cell) => {
      const url = 'https://example.com/wien.png'
      return expectFile(cell, { image: { mediaType: 'image/png', data: url } }, null, url)
    },
  },
  {
    name: 'a PDF',
    run: (cell) => expectFile(cell, { pdf: PDF, name: 'report.pdf' }, 'application/pdf', PDF),
  },
  {
    name: 'a sound',
    doors: ['chat completions', 'responses'],
    async run(cell) {
      const turns: AskTurn[] = [{ user: [{ text: 'Listen' }, { audio: WAV }] }]
      const { told, heard } = await cell.ask({ kind: 'hearing', turns }, { says: { text: TEXT } })
      if (cell.vendor === 'anthropic') return requireRefusal(told, /audio/)
      requireComplete(told, { text: TEXT })
      assert.deepEqual(listMedia(heard), [{ mediaType: 'audio/wav', data: WAV }])
    },
  },

  {
    name: 'a tool is called, whole',
    run: (cell) => expectAnswer(cell, { calls: [CALL] }, { tools: [WEATHER] }),
  },
  {
    name: 'a tool is called, streamed',
    run: (cell) => expectAnswer(cell, { calls: [CALL] }, { tools: [WEATHER], stream: true }),
  },
  {
    name: 'text, then a call, whole',
    run: (cell) => expectAnswer(cell, { text: 'I look.', calls: [CALL] }, { tools: [WEATHER] }),
  },
  {
    name: 'text, then a call, streamed',
    run: (cell) =>
      expectAnswer(cell, { text: 'I look.', calls: [CALL] }, { tools: [WEATHER], stream: true }),
  },
  {
    name: 'two calls at once, whole',
    run: (cell) => expectAnswer(cell, { calls: [CALL, OTHER_CALL] }, { tools: [WEATHER, TIME] }),
  },
  {
    name: 'two calls at once, streamed',
    run: (cell) =>
      expectAnswer(cell, { calls: [CALL, OTHER_CALL] }, { tools: [WEATHER, TIME], stream: true }),
  },
  {
    name: 'a call of a reasoning model',
    run: (cell) =>
      expectAnswer(cell, { calls: [CALL] }, { kind: 'thinking', tools: [WEATHER], stream: true }),
  },
  {
    name: 'tools preserve reasoning and effort',
    async run({ ask }) {
      const { told, heard } = await ask(
        { kind: 'thinking', tools: [WEATHER], effort: 'high' },
        { says: { calls: [CALL] } },
      )
      requireComplete(told, { calls: [CALL] })
      assert.equal(heard.effort, 'high')
    },
  },
  {
    name: 'tools reach the vendor with their schemas',
    async run({ ask }) {
      const schema: Json = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          city: { type: 'string', minLength: 2, description: 'Where' },
          days: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
        },
        required: ['city'],
        additionalProperties: false,
      }
      const { told, heard } = await ask(
        { tools: [{ name: 'weather', schema }] },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      const sent = heard.tools[0]
      assert.equal(sent?.name, 'weather')
      const { city, days } = asObject(sent?.schema.properties)
      assert.deepEqual(city, (schema.properties as Json).city)
      assert.match(JSON.stringify(days), /minimum/)
      assert.deepEqual(sent?.schema.required, schema.required)
    },
  },
  {
    name: 'a tool without parameters',
    async run({ ask }) {
      const schemas: (Json | undefined)[] = [undefined, { type: 'object', properties: {} }]
      const tools = schemas.map((schema, index) => ({
        name: `look_${index}`,
        ...(schema === undefined ? {} : { schema }),
      }))
      const { told, heard } = await ask({ tools }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.deepEqual(
        heard.tools.map(({ name }) => name),
        ['look_0', 'look_1'],
      )
    },
  },
  {
    name: 'a strict tool with keywords that Claude’s grammar lacks',
    async run({ ask, vendor, isOwn }) {
      const schema = { ...CITY, properties: { city: { type: 'string', minLength: 2 } } }
      const { told, heard, refusals } = await ask(
        { tools: [{ name: 'weather', schema, strict: true }] },
        { says: { text: TEXT } },
      )
      if (isOwn && refusals.length > 0) return requireRefusal(told, /minLength/)
      requireComplete(told, { text: TEXT })
      assert.equal(heard.tools[0]?.strict, vendor !== 'gemini')
      assert.match(JSON.stringify(heard.tools[0]?.schema), /minLength/)
    },
  },
  {
    name: 'tool_choice: any tool is required',
    run: (cell) => expectChoice(cell, 'required', 'required'),
  },
  {
    name: 'tool_choice: one tool is required',
    run: (cell) => expectChoice(cell, { name: 'time' }, 'time'),
  },
  { name: 'tool_choice: none', run: (cell) => expectChoice(cell, 'none', 'none') },
  {
    name: 'a required tool for a model that cannot be forced',
    async run({ ask, isOwn, vendor }) {
      const { told, heard, refusals } = await ask(
        { kind: 'thinking', tools: [WEATHER], choice: 'required' },
        { says: { calls: [CALL] } },
      )
      if (isOwn && refusals.length > 0) return requireRefusal(told, /tool_choice/)
      requireComplete(told, { calls: [CALL] })
      if (vendor === 'anthropic') assert.match(heard.system, /call/)
      else assert.equal(heard.choice, 'required')
    },
  },
  {
    name: 'no parallel calls',
    async run({ ask, vendor }) {
      const { told, heard } = await ask(
        { tools: [WEATHER], parallel: false },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      // Gemini has no such setting.
      assert.equal(heard.parallel, vendor === 'gemini')
    },
  },
  {
    name: 'results of parallel calls',
    async run({ ask }) {
      const calls = [
        { id: 'call_a1', name: 'weather', args: { city: 'Wien' } },
        { id: 'call_b2', name: 'time', args: { city: 'Graz' } },
      ]
      const turns: AskTurn[] = [
        HI,
        { assistant: 'I look.', calls },
        ...results(['call_a1', '9 degrees'], ['call_b2', 'noon']),
      ]
      const { told, heard } = await ask({ turns, tools: [WEATHER, TIME] }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.deepEqual(
        listResults(heard).map(({ text }) => /9 degrees|noon/.exec(text)?.[0]),
        ['9 degrees', 'noon'],
      )
      assert.deepEqual(
        listParts(heard, 'call').map(({ args }) => args),
        calls.map(({ args }) => args),
      )
    },
  },
  {
    name: 'the older functions parameter',
    doors: ['chat completions'],
    async run({ ask, vendor }) {
      const more = { functions: [{ name: 'weather', parameters: CITY }] }
      const { told, heard } = await ask({ more }, { says: { text: TEXT } })
      if (vendor !== 'openai') return requireRefusal(told, /functions/)
      requireComplete(told, { text: TEXT })
      assert.deepEqual(heard.body.functions, more.functions)
    },
  },
  {
    name: 'a tool without a schema, called with a text',
    doors: ['chat completions', 'responses'],
    async run({ ask, door, vendor }) {
      const tool = { name: 'shell', description: 'Runs a command' }
      const more = {
        tools: [
          door === 'responses' ? { type: 'custom', ...tool } : { type: 'custom', custom: tool },
        ],
      }
      const { told, heard, all } = await ask({ kind: 'thinking', more }, { says: { text: TEXT } })
      if (vendor !== 'openai' && all.length === 0) return requireRefusal(told, /function/)
      requireComplete(told, { text: TEXT })
      assert.match(JSON.stringify(heard.body.tools), /shell/)
    },
  },
  {
    name: 'a tool that the vendor runs',
    doors: ['responses', 'messages'],
    async run({ ask, door, isOwn }) {
      const tool =
        door === 'responses'
          ? { type: 'web_search' }
          : { type: 'web_search_20250305', name: 'web_search' }
      const { told, heard, all } = await ask({ more: { tools: [tool] } }, { says: { text: TEXT } })
      if (!isOwn && all.length === 0) return requireRefusal(told, /tool|search/i)
      requireComplete(told, { text: TEXT })
      assert.match(JSON.stringify(heard.body.tools), /web_search/i)
    },
  },
  {
    name: 'a tool result with an error',
    doors: ['messages'],
    async run({ ask, isOwn }) {
      const turns: AskTurn[] = [
        HI,
        ONE_CALL,
        { result: 'call_a1', parts: ['no such city'], isError: true },
      ]
      const { told, heard } = await ask({ turns, tools: [WEATHER] }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.match(listResults(heard)[0]?.text ?? '', /no such city/)
      assert.match(heard.raw ?? '', isOwn ? /"is_error":true/ : /error|failed/i)
    },
  },
  {
    name: 'two calls of one tool with results in another order',
    async run({ ask, vendor }) {
      const calls = ['Wien', 'Graz', 'Linz'].map((city, index) => ({
        id: `call_${index}`,
        name: 'weather',
        args: { city },
      }))
      const answers = results(['call_2', 'in Linz'], ['call_0', 'in Wien'], ['call_1', 'in Graz'])
      const turns: AskTurn[] = [
        HI,
        { assistant: '', calls },
        ...answers,
        { user: [{ text: 'Well?' }] },
      ]
      const { told, heard } = await ask({ turns, tools: [WEATHER] }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      const toolCalls = listParts(heard, 'call')
      for (const [index, { id, text }] of listResults(heard).entries()) {
        // Gemini identifies calls by position, the others by id.
        const call = vendor === 'gemini' ? toolCalls[index] : toolCalls.find((one) => one.id === id)
        assert.ok(
          text.includes(`in ${asObject(call?.args).city}`),
          `${text} answers ${JSON.stringify(call?.args)}`,
        )
      }
    },
  },
  {
    name: 'calls in the conversation without tools',
    async run({ ask, isOwn }) {
      const turns: AskTurn[] = [
        HI,
        ONE_CALL,
        { result: 'call_a1', parts: ['9 degrees'] },
        { user: [{ text: 'Sum it up.' }] },
      ]
      const { told, heard, refusals } = await ask({ turns }, { says: { text: TEXT } })
      if (isOwn && refusals.length > 0) return requireRefusal(told, /must define tools/)
      requireComplete(told, { text: TEXT })
      assert.equal(listResults(heard).length, 1)
      assert.ok(
        heard.tools.length === 0 || heard.choice === 'none',
        'a tool may be called that is not there',
      )
    },
  },
  {
    name: 'numbers beyond double precision, in both directions',
    async run({ ask }) {
      const args = { city: 'Wien', id: exact(LONG_ID) }
      const { told, heard } = await ask(
        {
          turns: [
            HI,
            { assistant: '', calls: [{ id: 'call_a1', name: 'weather', args }] },
            ...results(['call_a1', '9']),
          ],
          tools: [WEATHER],
        },
        { says: { calls: [{ name: 'weather', args }] } },
      )
      assert.equal(told.status, 200)
      assert.ok(heard.raw?.includes(LONG_ID), 'not heard')
      assert.ok(told.raw.includes(LONG_ID), 'not told')
      const streamed = await ask(
        { tools: [WEATHER], stream: true },
        { says: { calls: [{ name: 'weather', args }] } },
      )
      assert.ok(streamed.told.callTexts.join('').includes(LONG_ID), 'not told in a stream')
    },
  },
  {
    name: 'an image in a tool result',
    async run({ ask }) {
      const image = { mediaType: 'image/png', data: PNG }
      const turns: AskTurn[] = [HI, ONE_CALL, { result: 'call_a1', parts: ['A picture', image] }]
      const { told, heard } = await ask(
        { kind: 'thinking', turns, tools: [WEATHER] },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      const seen = [...listResults(heard).flatMap(({ media }) => media), ...listMedia(heard)]
      assert.deepEqual(seen, [image])
    },
  },
  {
    name: 'an empty tool result',
    async run({ ask }) {
      const turns: AskTurn[] = [HI, ONE_CALL, { result: 'call_a1', parts: [''] }]
      const { told, heard } = await ask({ turns, tools: [WEATHER] }, { says: { text: TEXT } })
      requireComplete(told, { text: TEXT })
      assert.equal(listResults(heard).length, 1)
    },
  },
  {
    name: 'call ids of another vendor',
    async run({ ask, isOwn }) {
      const id = 'call|7.a/b:ü'
      const turns: AskTurn[] = [
        HI,
        { assistant: '', calls: [{ id, name: 'weather', args: { city: 'Wien' } }] },
        { result: id, parts: ['9 degrees'] },
      ]
      const { told, heard, refusals } = await ask(
        { turns, tools: [WEATHER] },
        { says: { text: TEXT } },
      )
      if (isOwn && refusals.length > 0) return requireRefusal(told, /pattern/)
      requireComplete(told, { text: TEXT })
      assert.equal(listResults(heard).length, 1)
    },
  },

  { name: 'an answer by a JSON schema', run: (cell) => expectSchema(cell, CITY) },
  {
    name: 'a JSON schema with keywords that Claude’s grammar lacks',
    async run(cell) {
      const properties = {
        city: { type: 'string', minLength: 2 },
        days: { type: 'integer', minimum: 1, maximum: 7 },
      }
      return expectSchema(
        cell,
        { type: 'object', properties, required: ['city', 'days'], additionalProperties: false },
        /minimum/,
      )
    },
  },
  {
    name: 'a JSON schema with tools',
    async run({ ask }) {
      const { told, heard } = await ask(
        { kind: 'thinking', schema: CITY, tools: [TIME] },
        { says: { text: '{"city":"Wien"}' } },
      )
      requireComplete(told, { text: '{"city":"Wien"}' })
      assert.ok(heard.schema, 'no schema has come')
      assert.equal(heard.tools[0]?.name, 'time')
    },
  },
  {
    name: 'any JSON object',
    doors: ['chat completions', 'responses'],
    async run({ ask, door, vendor }) {
      const format = { type: 'json_object' }
      const more = door === 'responses' ? { text: { format } } : { response_format: format }
      const { told, heard } = await ask({ more }, { says: { text: '{"a":1}' } })
      requireComplete(told, { text: '{"a":1}' })
      if (vendor === 'anthropic') assert.match(JSON.stringify(heard.body), /json/i)
      if (vendor === 'gemini') assert.match(JSON.stringify(heard.body), /application\/json/)
      if (vendor === 'openai') assert.match(JSON.stringify(heard.body), /json_object/)
    },
  },

  { name: 'reasoning, whole', run: (cell) => expectReasoning(cell, false, { text: TEXT }) },
  { name: 'reasoning, streamed', run: (cell) => expectReasoning(cell, true, { text: TEXT }) },
  {
    name: 'reasoning before a call, whole',
    run: (cell) => expectReasoning(cell, false, { calls: [CALL] }),
  },
  {
    name: 'reasoning before a call, streamed',
    run: (cell) => expectReasoning(cell, true, { calls: [CALL] }),
  },
  {
    name: 'signed reasoning goes back with a tool result',
    run: (cell) => expectReturnedReasoning(cell, { calls: [CALL] }, false),
  },
  {
    name: 'signed reasoning goes back after a stream',
    run: (cell) => expectReturnedReasoning(cell, { calls: [CALL] }, true),
  },
  {
    name: 'signed reasoning goes back with the next question',
    run: (cell) => expectReturnedReasoning(cell, { text: 'Sunny.' }, true),
  },
  {
    name: 'a conversation with another vendor’s reasoning',
    async run({ ask, askOf, vendor, isOwn, door }) {
      const from: VendorName =
        vendor === 'anthropic' ? 'openai' : vendor === 'openai' ? 'gemini' : 'anthropic'
      const wish: CellAsk = {
        kind: 'thinking',
        effort: 'high',
        tools: [WEATHER],
        ...summaries(door, from),
      }
      const first = await askOf(from, wish, {
        says: { thought: 'Hm, so.', text: 'I look.', calls: [CALL] },
      })
      requireComplete(first.told, { calls: [CALL] })
      const turns: AskTurn[] = [HI, { kept: first.told.kept }, result(first.told, '9 degrees')]
      const { told, heard, refusals } = await ask(
        { ...wish, more: {}, ...summaries(door, vendor), turns },
        { says: { text: TEXT } },
      )
      if (isOwn && refusals.length > 0) return requireRefusal(told, /signature|verified|encrypted/i)
      requireComplete(told, { text: TEXT })
      assert.equal(listParts(heard, 'thought').length, 0)
      assert.equal(listResults(heard).length, 1)
    },
  },
  {
    name: 'marks for the vendor’s cache',
    async run({ ask, vendor }) {
      const rules = 'A rule that every answer shall follow. '.repeat(80)
      const { told, heard } = await ask(
        { system: [{ text: rules, mark: true }] },
        { says: { text: TEXT } },
      )
      requireComplete(told, { text: TEXT })
      if (vendor === 'anthropic') assert.ok(heard.marks > 0, 'no mark has come')
    },
  },

  {
    name: 'the answer is cut by its limit',
    run: (cell) => expectAnswer(cell, { text: 'Half an', finish: 'length' }, {}),
  },
  {
    name: 'the answer is cut by its limit, streamed',
    run: (cell) => expectAnswer(cell, { text: 'Half an', finish: 'length' }, { stream: true }),
  },
  {
    name: 'the vendor’s filter ends the answer',
    run: (cell) => expectAnswer(cell, { text: 'No', finish: 'filtered' }, {}),
  },
  {
    name: 'the vendor’s filter ends a streamed answer',
    run: (cell) => expectAnswer(cell, { text: 'No', finish: 'filtered' }, { stream: true }),
  },

  {
    name: 'the vendor rejects the gateway’s key: a server error',
    run: (cell) =>
      expectFailure(cell, 'our key', ({ status, error }) => {
        assert.ok(status >= 500, `${status}`)
        assert.doesNotMatch(error?.message ?? '', /API key/)
      }),
  },
  {
    name: 'a rate limit: Retry-After',
    async run({ ask }) {
      const play = { refuses: 'rate limit', headers: { 'retry-after': '77' } } as const
      for (const stream of [false, true]) {
        const { told } = await ask({ kind: 'other', stream }, play)
        assert.ok([429, 503, 529].includes(told.status), `${told.status}`)
        assert.ok(told.error, 'no error in the door’s shape')
        assert.equal(told.headers.get('retry-after'), '77')
      }
    },
  },
  {
    name: 'the vendor fails',
    run: (cell) =>
      expectFailure(cell, 'failure', ({ status }) => assert.ok(status >= 500, `${status}`)),
  },
  {
    name: 'a prompt that is too long: the code on which agents shorten it',
    run: (cell) =>
      expectFailure(cell, 'prompt too long', ({ status, error }) => {
        assert.equal(status, 400)
        if (cell.door === 'messages')
          assert.match(error?.message ?? '', /prompt is too long|exceeds/)
        else
          assert.match(
            `${error?.code} ${error?.message}`,
            /context_length_exceeded|ContextWindowExceeded/,
          )
      }),
  },
  {
    name: 'an unknown model',
    run: (cell) => expectFailure(cell, 'no such model', ({ status }) => assert.equal(status, 404)),
  },
  {
    name: 'a rejected request: the vendor’s own words',
    run: (cell) =>
      expectFailure(cell, 'bad request', ({ status, error }) => {
        assert.equal(status, 400)
        assert.match(error?.message ?? '', /picture is too small/)
      }),
  },
  {
    name: 'an unusable whole answer',
    async run({ ask }) {
      const { told } = await ask({}, { says: { text: TEXT }, breaks: 'garbage' })
      assert.ok(told.status >= 500, `${told.status}`)
      assert.ok(told.error, 'no error in the door’s shape')
    },
  },
  {
    name: 'garbage in a stream: never complete',
    run: (cell) => expectBrokenStream(cell, 'garbage'),
  },
  {
    name: 'a stream that fails before its first chunk',
    run: (cell) => expectBrokenStream(cell, 'error', {}),
  },
  {
    name: 'cut arguments of a call: never complete',
    run: (cell) => expectBrokenStream(cell, 'ends', { calls: [CALL] }),
  },
  {
    name: 'a broken stream connection: never complete',
    run: (cell) => expectBrokenStream(cell, 'resets'),
  },
  {
    name: 'a stream without its end mark: never complete',
    run: (cell) => expectBrokenStream(cell, 'ends'),
  },
  {
    name: 'the vendor reports a failure in its stream',
    run: (cell) => expectBrokenStream(cell, 'error'),
  },
  {
    name: 'a client that leaves closes the vendor’s connection',
    async run({ leave }) {
      const ms = await leave({ stream: true }, { says: { text: TEXT }, breaks: 'hangs' })
      assert.notEqual(ms, null, 'the vendor still speaks after 5 s')
    },
  },
  {
    name: 'a malformed body is rejected in the API’s shape',
    async run({ send, model }) {
      const { told } = await send(
        { model: model('plain'), messages: { text: '(cell)' }, input: { text: '(cell)' } },
        { says: { text: TEXT } },
      )
      assert.equal(told.status, 400)
      assert.ok(told.error, `no error in the door’s shape: ${told.raw.slice(0, 100)}`)
    },
  },
  ...AGENT_CASES,
]

/** Sends the request and reads the answer; limits and filters end it with their own reasons. */
async function expectAnswer(
  { ask }: Cell,
  replySpec: VendorAnswer,
  wish: CellAsk,
  how?: 'gzip' | 'crlf' | 'split',
) {
  const { told } = await ask(
    wish,
    how === undefined ? { says: replySpec } : { says: replySpec, how },
  )
  requireComplete(told, replySpec)
}

async function expectStream(cell: Cell, how: 'gzip' | 'crlf' | 'split') {
  await expectAnswer(cell, { text: TEXT }, { stream: true }, how)
  await expectAnswer(cell, { calls: [CALL] }, { stream: true, tools: [WEATHER] }, how)
}

async function counts({ ask, vendor }: Cell, tokens: NonNullable<VendorAnswer['tokens']>) {
  for (const stream of [false, true]) {
    const { told } = await ask({ kind: 'thinking', stream }, { says: { text: TEXT, tokens } })
    requireComplete(told, { text: TEXT })
    // Gemini does not charge for cache writes.
    const written = vendor === 'gemini' ? {} : { written: tokens.written }
    for (const [name, count] of Object.entries({ ...tokens, ...written })) {
      if (count === undefined || (vendor === 'gemini' && name === 'written')) continue
      assert.equal(told.tokens?.[name as keyof typeof tokens], count, name)
    }
  }
}

async function expectFile(
  { ask }: Cell,
  part: Parameters<typeof buildTurn>[0],
  mediaType: string | null,
  data: string,
) {
  const { told, heard } = await ask({ turns: [buildTurn(part)] }, { says: { text: TEXT } })
  requireComplete(told, { text: TEXT })
  const [seen] = listMedia(heard)
  assert.equal(seen?.data, data)
  if (mediaType !== null) assert.equal(seen?.mediaType, mediaType)
}

function buildTurn(part: Extract<AskTurn, { user: unknown }>['user'][number]): AskTurn {
  return { user: [{ text: 'What is this?' }, part] }
}

async function expectChoice(
  { ask }: Cell,
  choice: NonNullable<CellAsk['choice']>,
  heardAs: string,
) {
  const answer: VendorAnswer =
    choice === 'none' ? { text: TEXT } : { calls: [choice === 'required' ? CALL : OTHER_CALL] }
  const { told, heard } = await ask({ tools: [WEATHER, TIME], choice }, { says: answer })
  requireComplete(told, answer)
  assert.equal(heard.choice, heardAs)
}

async function expectSchema({ ask, isOwn }: Cell, schema: Json, kept?: RegExp) {
  const text = '{"city":"Wien","days":3}'
  const { told, heard, refusals } = await ask({ schema }, { says: { text } })
  if (isOwn && refusals.length > 0) return requireRefusal(told, /not supported/)
  requireComplete(told, { text })
  assert.deepEqual(
    Object.keys((heard.schema?.properties as Json | undefined) ?? {}),
    Object.keys(schema.properties as Json),
  )
  if (kept) assert.match(JSON.stringify(heard.schema), kept)
}

/**
 * OpenAI returns summaries of its reasoning on request; chat completions use the gateways' own
 * field for that.
 */
function summaries(door: string, vendor: VendorName): CellAsk {
  return door === 'chat completions' && vendor === 'openai'
    ? { more: { reasoning: { summary: 'auto' } } }
    : {}
}

async function expectReasoning({ ask, door, vendor }: Cell, stream: boolean, said: VendorAnswer) {
  const thought = 'Let me think about Wien.'
  const wish: CellAsk = {
    kind: 'thinking',
    effort: 'high',
    ...(said.calls ? { tools: [WEATHER] } : {}),
    stream,
    ...summaries(door, vendor),
  }
  const { told } = await ask(wish, { says: { thought, ...said } })
  requireComplete(told, said)
  assert.equal(told.thought, thought)
}

/**
 * The turn goes back as a client stores it: with the vendor's encrypted parts, which the vendor
 * accepts.
 */
async function expectReturnedReasoning(
  { ask, door, vendor }: Cell,
  said: VendorAnswer,
  stream: boolean,
) {
  const wish: CellAsk = {
    kind: 'thinking',
    effort: 'high',
    tools: [WEATHER],
    stream,
    ...summaries(door, vendor),
  }
  const thought = 'Let me think about Wien.'
  const first = await ask(wish, { says: { thought, ...said } })
  requireComplete(first.told, said)
  const next: AskTurn =
    said.calls === undefined ? { user: [{ text: 'Sure?' }] } : result(first.told, '9 degrees')
  const { told, heard } = await ask(
    { ...wish, turns: [HI, { kept: first.told.kept }, next] },
    { says: { text: TEXT } },
  )
  requireComplete(told, { text: TEXT })
  assert.ok(isRemembered(heard, vendor), 'the thought’s seal has not come back')
}

/** Gemini signs texts and calls. */
function isRemembered(heard: ReceivedRequest, vendor: VendorName): boolean {
  if (vendor === 'gemini')
    return /"thoughtSignature":"(?!skip)/.test(JSON.stringify(heard.body.contents))
  return listParts(heard, 'thought').length === 1
}

/** The same result whole and streamed; an error before any stream has the door's shape. */
async function expectFailure(
  { ask }: Cell,
  refusal: Refusal,
  check: (told: ClientReading) => void,
) {
  for (const stream of [false, true]) {
    const { told } = await ask({ stream }, { refuses: refusal })
    assert.ok(told.error, `no error in the door’s shape: ${told.status} ${told.raw.slice(0, 100)}`)
    check(told)
  }
}

async function expectBrokenStream(
  { ask }: Cell,
  how: 'garbage' | 'resets' | 'ends' | 'error',
  said: VendorAnswer = { text: 'Half an answer' },
) {
  const { told } = await ask(
    { stream: true, ...(said.calls ? { tools: [WEATHER] } : {}) },
    { says: said, breaks: how },
  )
  assert.equal(told.isWhole, false, 'told to be whole')
  assert.ok(told.error, 'the client is told nothing')
}

function results(...answers: [string, string][]): AskTurn[] {
  return answers.map(([id, text]) => ({ result: id, parts: [text] }))
}

function result(told: Answered['told'], text: string): AskTurn {
  return { result: told.calls[0]?.id ?? '', parts: [text] }
}
