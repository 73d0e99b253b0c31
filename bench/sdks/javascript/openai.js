import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
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

const createClient = (apiKey) => new OpenAI({ baseURL: `${URL_}/v1`, apiKey, maxRetries: 0 })
const client = createClient(KEY)
const userMessage = (content) => [{ role: 'user', content }]
const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: WEATHER_SCHEMA,
  strict: true,
}
const tools = [{ type: 'function', ...tool }]

const checks = {
  async chat(model) {
    const reply = await client.chat.completions.create({ model, messages: userMessage(HELLO) })
    must(reply.choices[0].message.content && reply.usage.total_tokens > 0, reply)
  },
  async chat_stream(model) {
    const stream = client.chat.completions.stream({ model, messages: userMessage(HELLO) })
    must(await stream.finalContent(), 'no words')
  },
  async chat_tools(model) {
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: userMessage(ASKED),
      tools: [
        { type: 'function', function: { ...tool, parse: JSON.parse, function: () => WEATHER } },
      ],
    })
    const words = await runner.finalContent()
    must(words.includes(WEATHER), words)
  },
  async chat_parse(model) {
    const response_format = zodResponseFormat(City, 'city')
    const reply = await client.chat.completions.parse({
      model,
      messages: userMessage('Name a city'),
      response_format,
    })
    must(reply.choices[0].message.parsed?.name, reply)
  },
  async responses(model) {
    const reply = await client.responses.create({ model, input: HELLO })
    must(reply.output_text && reply.usage.total_tokens > 0, reply)
  },
  async responses_stream(model) {
    const stream = client.responses.stream({ model, input: HELLO })
    must((await stream.finalResponse()).output_text, 'no words')
  },
  async responses_tools(model) {
    const first = await client.responses
      .stream({ model, input: userMessage(ASKED), tools })
      .finalResponse()
    const results = first.output
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: WEATHER }))
    const input = [...userMessage(ASKED), ...first.output, ...results]
    const { output_text } = await client.responses.create({ model, input, tools })
    must(output_text.includes(WEATHER), output_text)
  },
  async responses_parse(model) {
    const text = { format: zodTextFormat(City, 'city') }
    const reply = await client.responses.parse({ model, input: 'Name a city', text })
    must(reply.output_parsed?.name, reply)
  },
  async errors(model) {
    const stranger = createClient(WRONG_KEY)
    const chat = stranger.chat.completions
    await refused(
      () => chat.create({ model, messages: userMessage(HELLO) }),
      401,
      'AuthenticationError',
    )
    await refused(
      () => stranger.responses.create({ model, input: HELLO }),
      401,
      'AuthenticationError',
    )
    await refused(
      () => client.chat.completions.create({ model, messages: [] }),
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

await walk('openai', checks, async (model) => {
  const { data } = await client.embeddings.create({ model, input: ['a lighthouse', 'a ship'] })
  must(data.length === 2 && data[0].embedding.length > 100, data.length)
})
