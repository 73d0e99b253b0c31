// Counts a cooldown down and gives the download link back. Without it the link works as well and the server says how long to wait.
for (const link of document.querySelectorAll('a[data-wait-seconds]')) {
  const label = link.textContent
  const readyAt = performance.now() + Number(link.dataset.waitSeconds) * 1000

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
  }
  link.addEventListener('click', (event) => {
    if (link.getAttribute('aria-disabled') === 'true') event.preventDefault()
  })
  tick()
}

// The instructions for this computer come first.
const platform = navigator.userAgentData?.platform ?? navigator.platform ?? ''
const system = /win/i.test(platform) ? 'windows' : /mac|iphone|ipad/i.test(platform) ? 'macos' : 'linux'
for (const list of document.querySelectorAll('.systems')) {
  const own = list.querySelector(`[data-system="${system}"]`)
  if (own) list.prepend(own)
}
