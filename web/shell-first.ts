import type { Plugin } from 'vite'

/** The letters of every page's first view: asked for late, they would move what is already read. */
const FIRST_FONTS = /(?:inter-latin-wght|source-serif-4-latin-600)-normal.*\.woff2$/
const PRELOAD = '<link rel="preload" as="font" type="font/woff2" crossorigin fetchpriority="low"'

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
      handler(html, { bundle = {} }) {
        const sheets: string[] = []
        const rest = html.replace(/[ \t]*<link rel="stylesheet"[^>]*>\n?/g, (sheet) => {
          sheets.push(sheet)
          return ''
        })
        const fonts = Object.keys(bundle)
          .filter((file) => FIRST_FONTS.test(file))
          .map((file) => `    ${PRELOAD} href="/${file}" />\n`)
        return rest
          .replace('  </head>', `${fonts.join('')}  </head>`)
          .replace(/[ \t]*<div id="root">/, (root) => `${sheets.join('')}${root}`)
      },
    },
  }
}
