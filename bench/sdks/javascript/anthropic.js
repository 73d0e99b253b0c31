import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import {
  ASKED,
  City,
  HELLO,
  KEY,
  must,
  refused,
  URL_,
  WEATHER,
  WEATHER_SCHEMA,
  WRONG_KEY,
  walk,
} from './checks.js'

const createClient = (apiKey) => new Anthropic({ baseURL: URL_, apiKey, maxRetries: 0 })
const client = createClient(KEY)
const max_tokens = 500
const userMessage = (content) => [{ role: 'user', content }]
const tools = [
  { name: 'get_weather', description: 'The weather of a city', input_schema: WEATHER_SCHEMA },
]

const checks = {
  async messages(model) {
    const reply = await client.messages.create({ model, max_tokens, messages: userMessage(HELLO) })
    must(reply.content[0].text && reply.usage.output_tokens > 0, reply)
  },
  async stream(model) {
    must(
      await client.messages.stream({ model, max_tokens, messages: userMessage(HELLO) }).finalText(),
      'no words',
    )
  },
  async tools(model) {
    const first = await client.messages
      .stream({ model, max_tokens, messages: userMessage(ASKED), tools })
      .finalMessage()
    must(first.stop_reason === 'tool_use', first)
    const content = first.content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: WEATHER }))
    const turn = { role: 'assistant', content: first.content }
    const messages = [...userMessage(ASKED), turn, { role: 'user', content }]
    const last = await client.messages.create({ model, max_tokens, messages, tools })
    must(last.content[0].text.includes(WEATHER), last)
  },
  async tool_runner(model) {
    const inputSchema = z.object({ city: z.string() })
    const tool = betaZodTool({
      name: 'get_weather',
      description: 'The weather',
      inputSchema,
      run: () => WEATHER,
    })
    const last = await client.beta.messages.toolRunner({
      model,
      max_tokens,
      messages: userMessage(ASKED),
      tools: [tool],
    })
    must(last.content[0].text.includes(WEATHER), last)
  },
  async parse(model) {
    const output_config = { format: zodOutputFormat(City) }
    const reply = await client.messages.parse({
      model,
      max_tokens,
      messages: userMessage('Name a city'),
      output_config,
    })
    must(reply.parsed_output?.name, reply)
  },
  async count_tokens(model) {
    must(
      (await client.messages.countTokens({ model, messages: userMessage(HELLO) })).input_tokens > 0,
      'none',
    )
  },
  async errors(model) {
    const { messages } = createClient(WRONG_KEY)
    await refused(
      () => messages.create({ model, max_tokens, messages: userMessage(HELLO) }),
      401,
      'AuthenticationError',
    )
    await refused(
      () => client.messages.create({ model, max_tokens, messages: [] }),
      400,
      'BadRequestError',
    )
  },
  async models(model) {
    const ids = []
    for await (const { id } of client.models.list()) ids.push(id)
    must(ids.includes(model), ids)
  },
}

await walk('@anthropic-ai/sdk', checks)
