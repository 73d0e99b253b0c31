/** The parts of a purchase's card about its license: key, machines and download tokens. */
import { type Html, html, raw } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import type { OwnedLicense } from './dashboard-data.ts'
import { day } from './formats.ts'

type Machine = OwnedLicense['machines']['activations'][number]
type Token = OwnedLicense['tokens'][number]

export function licenseSections(
  { id }: PurchaseRow,
  license: OwnedLicense,
  messages: PageMessages,
): Html {
  return html`${machines(id, license.machines, messages)}${tokens(id, license.tokens, messages)}${rotation(id, messages)}`
}

function machines(
  purchaseId: string,
  { limit, activations, releases_left, releases_renew_at }: OwnedLicense['machines'],
  messages: PageMessages,
): Html {
  const { license: text, locale } = messages
  return html`<details><summary>${text.machines(activations.length, limit)}</summary>
${
  activations.length === 0
    ? html`<p class="soft">${text.noMachine}</p>`
    : html`<ul class="items">${activations.map((machine) => machineItem(purchaseId, machine, releases_left, messages))}</ul>`
}
${releases_left !== null && activations.length > 0 && html`<p class="soft">${releases_left === 0 ? text.releasesRenew(day(releases_renew_at, locale)) : text.releasesLeft(releases_left)}</p>`}
</details>`
}

function machineItem(
  purchaseId: string,
  machine: Machine,
  releasesLeft: number | null,
  { license: text, locale }: PageMessages,
): Html {
  const { id, platform, version, activated_at } = machine
  const name = machine.name ?? text.unnamed
  const details = [platform, version].filter((detail) => detail !== null).join(', ')
  return html`<li><span><strong>${name}</strong> <span class="soft">${details && `${details}, `}${text.since} ${day(activated_at, locale)}</span></span>
${releasesLeft !== 0 && itemForm({ action: 'release', purchaseId, item: id, label: text.release, about: name })}</li>`
}

function tokens(
  purchaseId: string,
  list: readonly Token[],
  { license: text, locale }: PageMessages,
): Html {
  return html`<details><summary>${text.tokens(list.length)}</summary>
<p class="soft">${text.tokensText}</p>
${
  list.length > 0 &&
  html`<ul class="items">${list.map(
    ({ id, name, last_used_at, expires_at }) =>
      html`<li><span><strong>${name}</strong> <span class="soft">${last_used_at === null ? text.neverUsed : html`${text.lastUsed} ${day(last_used_at, locale)}`}, ${text.expires} ${day(expires_at, locale)}</span></span>
${itemForm({ action: 'delete-token', purchaseId, item: id, label: text.revoke, about: name })}</li>`,
  )}</ul>`
}
<form class="line" method="post" action="/dashboard/tokens"><input type="hidden" name="purchase" value="${purchaseId}">
<div class="field"><label for="name-${purchaseId}">${text.name}</label><input id="name-${purchaseId}" name="name" required maxlength="100" placeholder="CI" autocomplete="off"></div>
<div class="field"><label for="days-${purchaseId}">${text.expiresIn}</label><select id="days-${purchaseId}" name="days">${Object.entries(text.lifetimes).map(([days, label]) => html`<option value="${days}"${days === '365' && raw(' selected')}>${label}</option>`)}</select></div>
<button class="button quiet">${text.create}</button></form>
</details>`
}

function rotation(purchaseId: string, { license: text }: PageMessages): Html {
  return html`<details><summary>${text.replace}</summary>
<p class="soft">${text.replaceText}</p>
<form method="post" action="/dashboard/rotate-key"><input type="hidden" name="purchase" value="${purchaseId}"><button class="button quiet">${text.replaceButton}</button></form>
</details>`
}

function itemForm({
  action,
  purchaseId,
  item,
  label,
  about,
}: Record<'action' | 'purchaseId' | 'item' | 'label' | 'about', string>): Html {
  return html`<form method="post" action="/dashboard/${action}"><input type="hidden" name="purchase" value="${purchaseId}"><input type="hidden" name="item" value="${item}"><button class="linklike" aria-label="${label} ${about}">${label}</button></form>`
}
