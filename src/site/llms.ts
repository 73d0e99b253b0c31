/** Files for language models (https://llmstxt.org): the list of pages, and all texts at once. */
import type { App } from '#platform/http/app.ts'
import { listLegalPages } from '#storefront/pages/legal-pages.ts'
import { plainText } from '#storefront/pages/markdown.ts'
import { LatestContent, MINUTES } from '#storefront/pages/shared-reply.ts'
import type { SiteDeps } from './deps.ts'
import { docFile } from './docs/pages.ts'
import { readSetting } from './docs/routes.ts'

const ANYONE = { config: { access: 'anyone' as const } }
const TEXT = 'text/plain; charset=utf-8'

export function llmsRoutes(app: App, deps: SiteDeps): void {
  const [index, full] = [new LatestContent(), new LatestContent()]
  app.get('/llms.txt', ANYONE, async (_request, reply) => {
    const content = await writeIndex(deps)
    return index.get(content, () => content).send(reply.type(TEXT), MINUTES)
  })
  app.get('/llms-full.txt', ANYONE, async (_request, reply) => {
    const pages = deps.docs.list('everyone', readSetting(deps))
    const texts = pages.map((page) => docFile(page, deps.config.urls.storefront))
    const content = [await writeIndex(deps), ...texts].join('\n---\n\n')
    return full.get(content, () => content).send(reply.type(TEXT), MINUTES)
  })
}

async function writeIndex(deps: SiteDeps): Promise<string> {
  const { base, frontend, storefront } = deps.config.urls
  const link = (name: string, url: string, about = '') =>
    `- [${name}](${url})${about === '' ? '' : `: ${about}`}`
  const docs = deps.docs.list('everyone', readSetting(deps))
  const products = deps.productList.sold.map(({ name, slug, description }) =>
    link(name, `${storefront}/products/${slug}`, plainText(description.split('\n')[0] ?? '')),
  )
  const legal = (await listLegalPages(deps)).map(({ title, path }) =>
    link(title, storefront + path),
  )
  return `# ${deps.config.brand.name}

> One API for the models of several vendors and for your own documents. The API's address is ${base}; it speaks the formats of OpenAI (${base}/v1) and Anthropic, and MCP (${base}/mcp).

## Documentation

${docs.map(({ name, title, task }) => link(title, `${storefront}/docs/${name}.md`, task)).join('\n')}
${link('API description', `${storefront}/docs/openapi.json`, 'OpenAPI 3.1, to generate a client')}
${link('API reference', `${frontend}/reference`, 'Every operation, with examples')}

## Plans and products

${link('Pricing', `${storefront}/pricing`, 'Plans and products with their prices')}
${link('Models', `${storefront}/models`, 'Models with their prices and context')}
${products.join('\n')}

## Optional

${[
  link('All documentation in one file', `${storefront}/llms-full.txt`),
  link('Status', `${storefront}/status`, 'What works now'),
  link('Contact', `${storefront}/contact`),
  ...legal,
].join('\n')}
`
}
