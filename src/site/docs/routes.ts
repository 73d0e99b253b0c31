/** The documentation: its pages, their Markdown files, and the files for language models. */
import type { App } from '#platform/http/app.ts'
import { readMessages } from '#storefront/messages/pages.ts'
import { sendNotFound, sendPage } from '#storefront/pages/layout.ts'
import { LatestContent, MINUTES, SharedContent } from '#storefront/pages/shared-reply.ts'
import { describePlace } from '#storefront/pages/structured-data.ts'
import { findCaller, type SiteDeps } from '../deps.ts'
import { SITE_MESSAGES } from '../messages.ts'
import type { DocPage } from './library.ts'
import { writeDescription } from './openapi.ts'
import { docFile, docHomePage, docPage, docSearchPage } from './pages.ts'
import { searchDocs } from './search.ts'

const ANYONE = { config: { access: 'anyone' as const } }

export function docRoutes(app: App, deps: SiteDeps): void {
  const { config, docs } = deps
  const { storefront, frontend } = config.urls

  app.get('/docs', ANYONE, async (request, reply) => {
    const caller = await findCaller(deps, request)
    const pages = docs.list(caller?.isSuperuser ? 'operator' : 'everyone', readSetting(deps))
    const messages = readMessages(request, caller, config.brand)
    const { locale } = messages
    const text = SITE_MESSAGES[locale].docs
    const { q } = request.query as { q?: unknown }
    if (typeof q === 'string') {
      const body = docSearchPage(pages, q, searchDocs(pages, q), locale)
      return sendPage(reply, deps, {
        title: text.searchTitle,
        body,
        caller,
        messages,
        path: '/docs',
      })
    }
    return sendPage(reply, deps, {
      title: text.title,
      body: docHomePage(pages, `${frontend}/reference`, locale),
      caller,
      messages,
      path: '/docs',
      listing: {
        path: '/docs',
        isEnglish: true,
        description: `How to use ${config.brand.name}: ${pages.map(({ title }) => title).join(', ')}.`,
        data: [describePlace([['Documentation', `${storefront}/docs`]])],
      },
    })
  })

  const description = new LatestContent()
  app.get('/docs/openapi.json', ANYONE, async (_request, reply) => {
    const setting = readSetting(deps)
    return description
      .get(JSON.stringify(setting), () => writeDescription(setting))
      .send(reply.type('application/json; charset=utf-8'), MINUTES)
  })

  app.get('/docs/:name', ANYONE, async (request, reply) => {
    const { name } = request.params as { name: string }
    const isFile = name.endsWith('.md')
    const caller = isFile ? null : await findCaller(deps, request)
    const pages = docs.list(caller?.isSuperuser ? 'operator' : 'everyone', readSetting(deps))
    const page = pages.find((one) => one.name === (isFile ? name.slice(0, -'.md'.length) : name))
    if (!page) return sendNotFound(reply, deps, await findCaller(deps, request))
    if (isFile) {
      const file = new SharedContent(docFile(page, storefront))
      return file.send(reply.type('text/markdown; charset=utf-8'), MINUTES)
    }
    const messages = readMessages(request, caller, config.brand)
    return sendPage(reply, deps, {
      title: page.title,
      body: docPage(page, pages, messages.locale),
      caller,
      messages,
      path: '/docs',
      script: 'copy-code.js',
      listing: describeDoc(deps, page),
    })
  })
}

export function readSetting({ config }: Pick<SiteDeps, 'config'>) {
  return { brand: config.brand.name, urls: config.urls }
}

function describeDoc({ config }: SiteDeps, { name, title, task }: DocPage) {
  const url = `${config.urls.storefront}/docs/${name}`
  return {
    path: `/docs/${name}`,
    isEnglish: true,
    description: `${task}: ${title}, in the documentation of ${config.brand.name}.`,
    data: [
      { '@type': 'TechArticle', headline: title, description: task, url },
      describePlace([
        ['Documentation', `${config.urls.storefront}/docs`],
        [title, url],
      ]),
    ],
  }
}
