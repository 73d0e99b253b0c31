/** The sandbox's front page: the simulated services and their pages. */
import type { FastifyInstance } from 'fastify'
import { html } from '#platform/http/html.ts'
import { show } from './page.ts'
import { OPEN } from './route.ts'

const SERVICES = [
  {
    href: '/sandbox/mail',
    name: 'Mailbox',
    description: 'All emails of the service: verification links, password resets, receipts.',
    keys: ['SMTP_URL'],
  },
  {
    href: '/sandbox/processor',
    name: 'Processor',
    description:
      'Customers, payments and signed events. Buttons trigger refunds, disputes and failed renewals.',
    keys: ['STRIPE_SECRET_KEY'],
  },
  {
    href: '/sandbox/oauth',
    name: 'Sign-in',
    description: 'Simulated sign-in with Google and GitHub, with test accounts.',
    keys: ['GOOGLE_CLIENT_ID', 'GITHUB_CLIENT_ID'],
  },
  {
    href: '/sandbox/openai',
    name: 'Models',
    description:
      'Simulated APIs of OpenAI, Anthropic and Gemini. The model quotes your documents, calls tools, fills schemas and embeds.',
    keys: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'],
  },
]

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', OPEN, (_request, reply) => {
    const main = html`<h1>Sandbox</h1>
<p class="quiet">The sandbox simulates the external services whose keys are not set, so that you can try everything offline.</p>
<div class="grid two">${SERVICES.map(
      (service) =>
        html`<section class="card"><h2><a href="${service.href}">${service.name}</a></h2><p>${service.description}</p><p class="small quiet">Replaced by ${service.keys.map((key) => html`<code>${key}</code> `)}</p></section>`,
    )}</div>
<p class="small quiet after">The sandbox stores its data in <code>sandbox.db</code> in the data folder. Only this machine can open it.</p>`
    return show(reply, { title: 'Overview', place: 'home', main })
  })
}
