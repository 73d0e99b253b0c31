// Adds a button that copies the code to each block of code. The pages work without it.
const SHOWN_MS = 2_000
const [COPY, COPIED] =
  document.documentElement.lang === 'de' ? ['Kopieren', 'Kopiert'] : ['Copy', 'Copied']

function addButton(block) {
  const frame = document.createElement('div')
  const button = document.createElement('button')
  frame.className = 'code'
  button.className = 'copy-code'
  button.type = 'button'
  button.textContent = COPY
  button.lang = document.documentElement.lang
  button.setAttribute('aria-live', 'polite')
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = COPIED
    setTimeout(() => {
      button.textContent = COPY
    }, SHOWN_MS)
  })
  block.replaceWith(frame)
  frame.append(block, button)
}

// Browsers offer the clipboard to secure pages only.
if (navigator.clipboard)
  for (const block of document.querySelectorAll('.prose pre')) addButton(block)
