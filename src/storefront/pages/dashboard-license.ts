/** The parts of a purchase's card about its license: key, machines and download tokens. */
import { type Html, html } from '#platform/http/html.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import type { OwnedLicense } from './dashboard-data.ts'
import { day } from './formats.ts'

type Machine = OwnedLicense['machines']['activations'][number]
type Token = OwnedLicense['tokens'][number]

export function licenseSections({ id }: PurchaseRow, license: OwnedLicense): Html {
  return html`${machines(id, license.machines)}${tokens(id, license.tokens)}${rotation(id)}`
}

function machines(
  purchaseId: string,
  { limit, activations, releases_left, releases_renew_at }: OwnedLicense['machines'],
): Html {
  const count = limit === null ? `${activations.length}` : `${activations.length} of ${limit}`
  return html`<details><summary>Machines (${count})</summary>
${
  activations.length === 0
    ? html`<p class="soft">The license is not active on any machine.</p>`
    : html`<ul class="items">${activations.map((machine) => machineItem(purchaseId, machine, releases_left))}</ul>`
}
${releases_left !== null && activations.length > 0 && html`<p class="soft">${releases_left === 0 ? html`You can release machines again on ${day(releases_renew_at)}.` : `You can release ${releases_left} more this month.`}</p>`}
</details>`
}

function machineItem(purchaseId: string, machine: Machine, releasesLeft: number | null): Html {
  const { id, name, platform, version, activated_at } = machine
  const details = [platform, version].filter((text) => text !== null).join(', ')
  return html`<li><span><strong>${name ?? 'Unnamed machine'}</strong> <span class="soft">${details && `${details}, `}since ${day(activated_at)}</span></span>
${releasesLeft !== 0 && itemForm({ action: 'release', purchaseId, item: id, label: 'Release', about: name ?? 'unnamed machine' })}</li>`
}

function tokens(purchaseId: string, list: readonly Token[]): Html {
  return html`<details><summary>Download tokens (${list.length})</summary>
<p class="soft">With a token, a build server downloads the archive without your account and without a password.</p>
${
  list.length > 0 &&
  html`<ul class="items">${list.map(
    ({ id, name, last_used_at, expires_at }) =>
      html`<li><span><strong>${name}</strong> <span class="soft">${last_used_at === null ? 'never used' : html`last used ${day(last_used_at)}`}, expires ${day(expires_at)}</span></span>
${itemForm({ action: 'delete-token', purchaseId, item: id, label: 'Revoke', about: name })}</li>`,
  )}</ul>`
}
<form class="line" method="post" action="/dashboard/tokens"><input type="hidden" name="purchase" value="${purchaseId}">
<div class="field"><label for="name-${purchaseId}">Name</label><input id="name-${purchaseId}" name="name" required maxlength="100" placeholder="CI" autocomplete="off"></div>
<div class="field"><label for="days-${purchaseId}">Expires in</label><select id="days-${purchaseId}" name="days"><option value="30">30 days</option><option value="90">90 days</option><option value="365" selected>1 year</option><option value="730">2 years</option></select></div>
<button class="button quiet">Create token</button></form>
</details>`
}

function rotation(purchaseId: string): Html {
  return html`<details><summary>Replace the license key</summary>
<p class="soft">The old key stops working at once, also as the password of new downloads. Machines and tokens stay. We email you the new key.</p>
<form method="post" action="/dashboard/rotate-key"><input type="hidden" name="purchase" value="${purchaseId}"><button class="button quiet">Replace key</button></form>
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
