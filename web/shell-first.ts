import type { Plugin } from 'vite'

/**
 * Puts the app's style sheets behind the shell of index.html: in the head they would hold back its painting until they had come,
 * and the shell has its own. The app still waits for them, because scripts wait for the sheets before them.
 */
export function shellFirst(): Plugin {
  return {
    name: 'latchkey-shell-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html) {
        const sheets: string[] = []
        const rest = html.replace(/[ \t]*<link rel="stylesheet"[^>]*>\n?/g, (sheet) => {
          sheets.push(sheet)
          return ''
        })
        return rest.replace(/[ \t]*<div id="root">/, (root) => `${sheets.join('')}${root}`)
      },
    },
  }
}
