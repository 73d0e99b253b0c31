import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import { ASKED, City, HELLO, KEY, must, refused, URL_, WEATHER, WRONG_KEY, walk } from './checks.js'

const ofOpenai = (model, more = {}) =>
  new ChatOpenAI({
    model,
    apiKey: KEY,
    configuration: { baseURL: `${URL_}/v1` },
    maxRetries: 0,
    ...more,
  })
const ofAnthropic = (model, apiKey = KEY) =>
  new ChatAnthropic({ model, apiKey, anthropicApiUrl: URL_, maxTokens: 500, maxRetries: 0 })
const weather = tool(() => WEATHER, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
})

const checks = {
  async invoke(model) {
    for (const chat of [ofOpenai(model), ofAnthropic(model)])
      must((await chat.invoke(HELLO)).text, 'no words')
  },
  async stream(model) {
    for (const chat of [ofOpenai(model), ofAnthropic(model)]) {
      let words = ''
      for await (const chunk of await chat.stream(HELLO)) words += chunk.text
      must(words, 'no words')
    }
  },
  openai_tools: (model) => loop(ofOpenai(model)),
  openai_responses_tools: (model) => loop(ofOpenai(model, { useResponsesApi: true })),
  anthropic_tools: (model) => loop(ofAnthropic(model)),
  async openai_structured(model) {
    must((await ofOpenai(model).withStructuredOutput(City).invoke('Name a city')).name, 'no city')
  },
  async anthropic_structured(model) {
    must(
      (await ofAnthropic(model).withStructuredOutput(City).invoke('Name a city')).name,
      'no city',
    )
  },
  async errors(model) {
    await refused(() => ofOpenai(model, { apiKey: WRONG_KEY }).invoke(HELLO), 401)
    await refused(() => ofAnthropic(model, WRONG_KEY).invoke(HELLO), 401)
  },
}

async function loop(chat) {
  const bound = chat.bindTools([weather])
  const question = new HumanMessage(ASKED)
  const first = await bound.invoke([question])
  const results = first.tool_calls.map(
    ({ id }) => new ToolMessage({ content: WEATHER, tool_call_id: id }),
  )
  let words = ''
  for await (const chunk of await bound.stream([question, first, ...results])) words += chunk.text
  must(words.includes(WEATHER), words)
}

await walk('@langchain/openai', checks, async (model) => {
  const embeddings = new OpenAIEmbeddings({
    model,
    apiKey: KEY,
    configuration: { baseURL: `${URL_}/v1` },
  })
  must((await embeddings.embedDocuments(['a lighthouse', 'a ship'])).length === 2, 'not two')
})
