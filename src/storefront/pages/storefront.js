// The storefront's script. Every page works without it.

// Counts a cooldown down and gives the download link back. Without it the link works as well and the server says how long to wait.
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

// A download leaves the page as it is: this shows what it has changed, the count, the wait and the history.
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
      // The last download takes the button with it.
      if (article.querySelector('.actions') && !same.querySelector('.actions')) replaceContent(article, same)
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
const system = /win/i.test(platform) ? 'windows' : /mac|iphone|ipad/i.test(platform) ? 'macos' : 'linux'
for (const list of document.querySelectorAll('.systems')) {
  const own = list.querySelector(`[data-system="${system}"]`)
  if (own) list.prepend(own)
}
