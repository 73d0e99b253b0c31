type Snippet = { id: string; name: string; text: string }

/** Examples that run as they stand against the service at `origin`, with a model that it names, once a key is in them. */
export function snippets(origin: string, model = 'YOUR_MODEL'): Snippet[] {
  return [
    {
      id: 'curl',
      name: 'curl',
      text: `curl ${origin}/api/ai/chat \\
  -H "Authorization: Bearer YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: 'ask',
      name: 'Your documents',
      text: `curl ${origin}/api/rag/query \\
  -H "Authorization: Bearer YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"question": "What does the lease say about keys?", "top_k": 5}'`,
    },
    {
      id: 'python',
      name: 'Python (openai)',
      text: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="YOUR_KEY")

stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
    },
    {
      id: 'javascript',
      name: 'JavaScript (openai)',
      text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: 'YOUR_KEY' })

const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(reply.choices[0].message.content)`,
    },
    {
      id: 'mcp',
      name: 'MCP',
      text: `{
  "mcpServers": {
    "latchkey": {
      "type": "http",
      "url": "${origin}/mcp",
      "headers": { "Authorization": "Bearer YOUR_KEY" }
    }
  }
}`,
    },
  ]
}
