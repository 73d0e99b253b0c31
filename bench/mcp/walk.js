/**
 * Calls /mcp with the protocol's official clients for JavaScript. Prints each step's result or
 * error on a line. Plain JavaScript, because these packages are not installed when the project is
 * checked.
 */
import { readFileSync } from 'node:fs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { MCP_URL = '', API_KEY = '' } = process.env
const me = { name: 'latchkey-bench', version: '1' }
const readVersion = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version
const buildHeaders = (key) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

const clients = [
  ['@modelcontextprotocol/client', 'auto'],
  ['@modelcontextprotocol/client', 'legacy'],
  ['@modelcontextprotocol/sdk', 'legacy'],
]

for (const [name, mode] of clients) {
  const label = `${name} ${readVersion(name)}`
  const say = (step, told, ok = true) =>
    console.log(JSON.stringify({ client: label, mode, step, told, ok }))
  const connect = (key) => (name.endsWith('/sdk') ? connectOld(key) : connectNew(key, mode))
  try {
    await walk(connect, say)
  } catch (error) {
    say('all', String(error), false)
  }
}

async function connectNew(key, mode) {
  const client = new Client(me, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(MCP_URL), buildHeaders(key)))
  return { client, protocol: client.getNegotiatedProtocolVersion() }
}

async function connectOld(key) {
  const client = new OldClient(me)
  const transport = new OldTransport(new URL(MCP_URL), buildHeaders(key))
  await client.connect(transport)
  return { client, protocol: transport.protocolVersion }
}

async function walk(connect, say) {
  const { client, protocol } = await connect(API_KEY)
  say('connect', protocol)
  /** The client checks the result against the tool's schema. */
  const tool = async (name, input) => {
    const { isError, content, structuredContent } = await client.callTool({
      name,
      arguments: input,
    })
    if (isError) throw new Error(`${name}: ${content[0].text}`)
    return structuredContent
  }
  const step = async (name, work) => {
    try {
      say(name, await work())
    } catch (error) {
      say(name, String(error), false)
    }
  }
  let id = ''
  const text = `The lighthouse of ${protocol} was built by Amélie Duroc in 1882.`
  await step('list tools', async () => (await client.listTools()).tools.length)
  await step('ingest', async () => {
    const stored = await tool('ingest', {
      content: text,
      metadata: { title: 'Lighthouse', place: protocol },
    })
    id = stored.document_id
    return stored.passages
  })
  await step('search', async () => {
    const { results } = await tool('search', {
      query: 'Who built the lighthouse?',
      filter: { place: protocol },
    })
    return must(results.length === 1 && results[0].document_id === id, results[0].title)
  })
  await step('fetch', async () =>
    must((await tool('fetch', { id: `${id}_0` })).text === text, 'whole'),
  )
  await step('ask', async () =>
    must(/Duroc/.test((await tool('ask', { question: text })).answer), 'Duroc'),
  )
  await step('list_documents', async () =>
    must((await tool('list_documents', { limit: 1 })).documents.length === 1, 1),
  )
  const uri = `rag://documents/${id}`
  await step('list resources', async () => {
    const { resources } = await client.listResources()
    return must(
      resources.some((one) => one.uri === uri),
      resources.length,
    )
  })
  await step(
    'templates',
    async () => (await client.listResourceTemplates()).resourceTemplates[0].uriTemplate,
  )
  await step('read resource', async () => {
    const { contents } = await client.readResource({ uri })
    return must(contents[0].text === text, contents[0].mimeType)
  })
  await step('unknown resource', () =>
    refused(client.readResource({ uri: 'rag://documents/é' }), /not found/i),
  )
  await step('unknown tool', () =>
    refused(client.callTool({ name: 'nothing', arguments: {} }), /Unknown tool/),
  )
  await step('wrong argument', async () => {
    const { isError, content } = await client.callTool({ name: 'fetch', arguments: {} })
    return must(isError, content[0].text)
  })
  await step('delete_document', async () => (await tool('delete_document', { id })).deleted)
  await step('wrong key', () => refused(connect('lk_nonsense'), /401|authori|credential/i))
  await client.close()
}

function must(fact, told) {
  if (!fact) throw new Error(`check failed: ${JSON.stringify(told)}`)
  return told
}

async function refused(work, pattern) {
  const reason = await work.then(
    () => 'the call was not rejected',
    (error) => error.message,
  )
  return must(pattern.test(reason), reason)
}
