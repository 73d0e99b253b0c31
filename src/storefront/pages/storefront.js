// The storefront's script. Every page works without it.

// Counts down the cooldown and enables the download link again. Without the script, the link works
// too, and the server replies how long to wait.
function countDown(link) {
  const label = link.textContent
  const note = link.parentElement?.querySelector('[data-wait]')
  const readyAt = performance.now() + Number(link.dataset.waitSeconds) * 1000
  if (note) note.textContent = 'Your last download has just begun. '

  const tick = () => {
    const seconds = Math.ceil((readyAt - performance.now()) / 1000)
    if (seconds > 0) {
      link.setAttribute('aria-disabled', 'true')
      link.textContent = `Ready in ${seconds} s`
      setTimeout(tick, 250)
      return
    }
    link.removeAttribute('aria-disabled')
    link.textContent = label
    note?.remove()
  }
  tick()
}

// A download does not reload the page, so this updates the count, the wait and the history.
const POLL_INTERVAL_MS = 1500
const POLLS_MAX = 8

async function refreshPurchases(purchase) {
  const left = (page) => page.querySelector(`[data-purchase="${purchase}"] [data-left]`)
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
    const response = await fetch('/dashboard').catch(() => null)
    if (!response?.ok || response.redirected) return
    const now = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (left(now)?.textContent === left(document)?.textContent) continue

    for (const article of document.querySelectorAll('[data-purchase]')) {
      const same = now.querySelector(`[data-purchase="${article.dataset.purchase}"]`)
      if (!same) continue
      // After the last download the button disappears.
      if (article.querySelector('.actions') && !same.querySelector('.actions'))
        replaceContent(article, same)
      else
        for (const part of ['.actions', '[data-left]'])
          replaceContent(article.querySelector(part), same.querySelector(part))
    }
    replaceContent(document.querySelector('[data-history]'), now.querySelector('[data-history]'))
    attachHandlers()
    return
  }
}

function replaceContent(old, next) {
  if (!old || !next) return
  const focused = old.contains(document.activeElement)
  old.replaceChildren(...next.childNodes)
  if (focused) old.querySelector('a')?.focus()
}

function attachHandlers() {
  for (const link of document.querySelectorAll('a[data-download]:not([data-attached])')) {
    link.dataset.attached = ''
    link.addEventListener('click', (event) => {
      if (link.getAttribute('aria-disabled') === 'true') event.preventDefault()
      else refreshPurchases(link.closest('[data-purchase]')?.dataset.purchase)
    })
    if (link.dataset.waitSeconds) countDown(link)
  }
}
attachHandlers()

// The instructions for this computer come first.
const platform = navigator.userAgentData?.platform ?? navigator.platform ?? ''
const system = /win/i.test(platform)
  ? 'windows'
  : /mac|iphone|ipad/i.test(platform)
    ? 'macos'
    : 'linux'
for (const list of document.querySelectorAll('.systems')) {
  const own = list.querySelector(`[data-system="${system}"]`)
  if (own) list.prepend(own)
}

// Where strangers to an account have failed too often, the server asks for a proof of work: solved
// here, without a click. The page shows the form's response as if the browser had submitted it.
async function signIn(form, button) {
  button.disabled = true
  const fields = new URLSearchParams(new FormData(form))
  let answer = await send(fields)
  const challenge = answer.page.querySelector('[data-challenge]')?.dataset.challenge
  if (challenge) {
    fields.set('proof', await solve(JSON.parse(challenge)))
    answer = await send(fields)
  }
  if (answer.movedTo) return location.assign(answer.movedTo)
  document.querySelector('main').replaceChildren(...answer.page.querySelector('main').childNodes)
  attachLogin()
  document.querySelector('main input[name=code], main input[name=password]')?.focus()
}

async function send(fields) {
  const response = await fetch('/login', { method: 'POST', body: fields, redirect: 'manual' })
  // Where it leads to is hidden from scripts: a second look, with the session that is open now, leads there.
  if (response.type === 'opaqueredirect') {
    return {
      movedTo: `/login?redirect=${encodeURIComponent(fields.get('redirect'))}`,
      page: document,
    }
  }
  return {
    movedTo: null,
    page: new DOMParser().parseFromString(await response.text(), 'text/html'),
  }
}

async function solve(challenge) {
  const [{ solveChallenge }, { deriveKey }] = await Promise.all([
    import('/assets/altcha/pow.js'),
    import('/assets/altcha/algorithms/web/pbkdf2.js'),
  ])
  const solution = await solveChallenge({ challenge, deriveKey })
  return btoa(JSON.stringify({ challenge, solution }))
}

function attachLogin() {
  const form = document.querySelector('form[data-login]')
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    // Without the network, or without what solves, the form goes as forms go.
    signIn(form, event.submitter ?? form.querySelector('button')).catch(() => form.submit())
  })
}
attachLogin()
