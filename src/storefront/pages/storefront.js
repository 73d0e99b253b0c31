// The storefront's script. Every page works without it.
const TEXTS = {
  en: {
    started: 'Your download has started. ',
    ready: (seconds) => `Ready in ${seconds} s`,
    copy: 'Copy',
    copied: 'Copied',
  },
  de: {
    started: 'Ihr Download hat begonnen. ',
    ready: (seconds) => `Bereit in ${seconds} s`,
    copy: 'Kopieren',
    copied: 'Kopiert',
  },
}
const texts = TEXTS[document.documentElement.lang] ?? TEXTS.en

// Disables the download link until the cooldown ends. Without this script the link works too, and
// the server returns the remaining time.
function countDown(link) {
  const label = link.textContent
  const note = link.parentElement?.querySelector('[data-wait]')
  const readyAt = performance.now() + Number(link.dataset.waitSeconds) * 1000
  if (note) note.textContent = texts.started

  const tick = () => {
    const seconds = Math.ceil((readyAt - performance.now()) / 1000)
    if (seconds > 0) {
      link.setAttribute('aria-disabled', 'true')
      link.textContent = texts.ready(seconds)
      setTimeout(tick, 250)
      return
    }
    link.removeAttribute('aria-disabled')
    link.textContent = label
    note?.remove()
  }
  tick()
}

// A download does not reload the page, so this updates the count, the cooldown and the history.
const POLL_INTERVAL_MS = 1500
const POLLS_MAX = 8
const CHANGING = '.actions, [data-left], [data-older]'

async function refreshPurchases(purchase) {
  const left = (page) =>
    Array.from(
      page.querySelectorAll(`[data-purchase="${purchase}"] [data-left]`),
      (part) => part.textContent,
    ).join()
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
    const response = await fetch('/dashboard').catch(() => null)
    if (!response?.ok || response.redirected) return
    const now = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (left(now) === left(document)) continue

    for (const article of document.querySelectorAll('[data-purchase]')) {
      const same = now.querySelector(`[data-purchase="${article.dataset.purchase}"]`)
      if (!same) continue
      const [parts, nextParts] = [article, same].map((card) => card.querySelectorAll(CHANGING))
      // After the last allowed download, the button is gone: replace the whole card.
      if (parts.length !== nextParts.length) replaceContent(article, same)
      else for (const [index, part] of parts.entries()) replaceContent(part, nextParts[index])
    }
    replaceContent(document.querySelector('[data-history]'), now.querySelector('[data-history]'))
    attachHandlers()
    addCopyButtons()
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

// Adds a button that copies a key or a token. Without the clipboard there is no button.
function addCopyButtons() {
  if (!navigator.clipboard) return
  for (const secret of document.querySelectorAll('[data-copy]:not([data-copyable])')) {
    secret.dataset.copyable = ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'linklike copy'
    button.textContent = texts.copy
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(secret.textContent)
      button.textContent = texts.copied
      setTimeout(() => {
        button.textContent = texts.copy
      }, 2000)
    })
    secret.after(button)
  }
}
addCopyButtons()

// Show the instructions for the visitor's system first.
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

// Submits the login form. After too many failed sign-ins from unknown devices, the server demands a
// proof of work, which this solves. The page then shows the response as after a normal submit.
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
  // Scripts cannot read the target of a redirect. The session is open now, so the login page
  // redirects to the target.
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
    // Fall back to a normal submit when the request or the solver fails.
    signIn(form, event.submitter ?? form.querySelector('button')).catch(() => form.submit())
  })
}
attachLogin()
