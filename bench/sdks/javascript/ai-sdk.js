import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embedMany, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { ASKED, City, HELLO, KEY, must, refused, URL_, WEATHER, WRONG_KEY, walk } from './checks.js'

const baseURL = `${URL_}/v1`
const kinds = {
  openai: (apiKey) => createOpenAI({ baseURL, apiKey }),
  compatible: (apiKey) =>
    createOpenAICompatible({
      name: 'latchkey',
      baseURL,
      apiKey,
      supportsStructuredOutputs: true,
      includeUsage: true,
    }),
  anthropic: (apiKey) => createAnthropic({ baseURL, apiKey }),
}
const tools = {
  get_weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: () => WEATHER,
  }),
}
const turns = { prompt: ASKED, tools, stopWhen: stepCountIs(4), maxRetries: 0 }

const works = {
  async text(model) {
    const { text, usage } = await generateText({ model, prompt: HELLO, maxRetries: 0 })
    must(text && usage.totalTokens > 0, usage)
  },
  async tools(model) {
    const { text } = await generateText({ model, ...turns })
    must(text.includes(WEATHER), text)
  },
  async streamed_tools(model) {
    let words = ''
    for await (const part of streamText({ model, ...turns, onError() {} }).fullStream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') words += part.text
    }
    must(words.includes(WEATHER), words)
  },
  async object(model) {
    const output = Output.object({ schema: City })
    must(
      (await generateText({ model, prompt: 'Name a city', output, maxRetries: 0 })).output.name,
      'no city',
    )
  },
}

const checks = Object.fromEntries([
  ...Object.entries(kinds).flatMap(([kind, of]) =>
    Object.entries(works).map(([name, work]) => [
      `${kind}_${name}`,
      (model) => work(of(KEY)(model)),
    ]),
  ),
  ['errors', errors],
])

async function errors(name) {
  for (const of of Object.values(kinds)) {
    await refused(
      () => generateText({ model: of(WRONG_KEY)(name), prompt: HELLO, maxRetries: 0 }),
      401,
    )
  }
}

await walk('ai', checks, async (name) => {
  const { embeddings } = await embedMany({
    model: kinds.openai(KEY).embedding(name),
    values: ['a lighthouse', 'a ship'],
  })
  must(embeddings.length === 2, embeddings.length)
})
