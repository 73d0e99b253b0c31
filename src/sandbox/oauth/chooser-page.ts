/** The providers' page on which a user chooses an account. */
import type { FastifyReply } from 'fastify'
import { type Html, html } from '#platform/http/html.ts'
import { show } from '../page.ts'
import type { Person, Provider } from './people.ts'

export const PROVIDER_NAMES: Record<Provider, string> = { google: 'Google', github: 'GitHub' }

/** `request`: the authorization request's parameters, which the form sends again. */
export function showChooser(
  reply: FastifyReply,
  provider: Provider,
  action: string,
  people: readonly Person[],
  request: Record<string, string>,
  refused?: string,
) {
  const name = PROVIDER_NAMES[provider]
  const carried = Object.entries(request).map(
    ([key, value]) => html`<input type="hidden" name="${key}" value="${value}">`,
  )
  const main = html`<div class="card narrow">
<p class="small quiet">Simulated ${name}</p>
<h1>Choose an account</h1>
<p class="quiet">to continue to <strong>${readHost(request.redirect_uri)}</strong></p>
${refused ? html`<p class="notice bad" role="alert">${refused}</p>` : ''}
<ul class="people">${people.map((person) => html`<li><form method="post" action="${action}">${carried}<button class="person" name="subject" value="${person.subject}">${face(person)}<span>${person.name}<br><span class="small quiet">${person.email}${person.verified ? '' : ' – address not verified'}</span></span></button></form></li>`)}</ul>
<details><summary>Use another account</summary>
<form method="post" action="${action}">${carried}
<div class="field"><label for="email">Email</label><input id="email" type="email" name="email" required autocomplete="email"></div>
<div class="field"><label for="name">Name</label><input id="name" type="text" name="name" autocomplete="name"></div>
<label class="choice"><input type="checkbox" name="verified" value="yes" checked><span class="grow">${name} has verified this address</span></label>
<p></p><button class="full">Sign in</button></form></details>
<form method="post" action="${action}">${carried}<p></p><button class="plain full" name="refuse" value="yes">Cancel</button></form>
</div>`
  return show(
    reply,
    { title: `Sign in with ${name}`, place: 'oauth', main, hosted: true },
    refused ? 400 : 200,
  )
}

export function showBadRequest(reply: FastifyReply, provider: Provider, why: string) {
  const main = html`<div class="card narrow"><h1>Sign-in not possible</h1><p>${why}</p></div>`
  return show(
    reply,
    { title: `Sign in with ${PROVIDER_NAMES[provider]}`, place: 'oauth', main, hosted: true },
    400,
  )
}

const face = (person: Person): Html =>
  html`<span class="face" aria-hidden="true">${initials(person.name || person.email)}</span>`

export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean)
  return words
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? '')
    .join('')
}

function readHost(url: string | undefined): string {
  return URL.parse(url ?? '')?.host ?? 'the service'
}
