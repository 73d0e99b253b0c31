/** The sandbox's front page: the simulated services and their pages. */
import type { FastifyInstance } from 'fastify'
import { html } from '#platform/http/html.ts'
import { show } from './page.ts'
import { OPEN } from './route.ts'

const ROOMS = [
  {
    href: '/sandbox/mail',
    name: 'Mailbox',
    tells: 'Every mail the service sends: verification links, resets, receipts.',
    keys: ['SMTP_URL'],
  },
  {
    href: '/sandbox/processor',
    name: 'Processor',
    tells:
      'Customers, payments and signed events; refunds, disputes and failed renewals at a button.',
    keys: ['STRIPE_SECRET_KEY'],
  },
  {
    href: '/sandbox/oauth',
    name: 'Sign-in',
    tells: 'Google and GitHub as strangers would see them, with accounts to choose from.',
    keys: ['GOOGLE_CLIENT_ID', 'GITHUB_CLIENT_ID'],
  },
  {
    href: '/sandbox/openai',
    name: 'Models',
    tells:
      'OpenAI, Anthropic and Gemini, with a model that quotes your documents, calls tools, fills schemas and embeds.',
    keys: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'],
  },
]

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', OPEN, (_request, reply) => {
    const main = html`<h1>The outside world, in a box</h1>
<p class="quiet">Until a real key is set, everything the service would reach over the network is played here, so that each path can be walked offline.</p>
<div class="grid two">${ROOMS.map(
      (room) =>
        html`<section class="card"><h2><a href="${room.href}">${room.name}</a></h2><p>${room.tells}</p><p class="small quiet">Ends with ${room.keys.map((key) => html`<code>${key}</code> `)}</p></section>`,
    )}</div>
<p class="small quiet after">Its memory is <code>sandbox.db</code> in the data folder. It answers this machine alone.</p>`
    return show(reply, { title: 'Overview', place: 'home', main })
  })
}
