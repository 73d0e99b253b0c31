import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { catalogues, type ProblemCode } from '../src/app/problems.ts'
import phrases from '../src/platform/phrases.de.json' with { type: 'json' }
import problems from '../src/platform/problem-sentences.de.json' with { type: 'json' }

const TEXTS = fileURLToPath(new URL('./src/language/de.json', import.meta.url))
const FILE = /^assets\/texts-de-[\w-]+\.js$/
/** A code without a sentence is a type error. */
const sentences: Record<ProblemCode, string> = problems

/**
 * Writes the German texts as a script of their own, and names it in the page before the app. The
 * service leaves it in the page for visitors who read German.
 */
export function texts(): Plugin {
  return {
    name: 'latchkey-texts',
    apply: 'build',
    buildStart() {
      const source = `globalThis.texts=${readFileSync(TEXTS, 'utf8')};globalThis.problems=${JSON.stringify(pairSentences())};globalThis.phrases=${JSON.stringify(phrases)}`
      this.emitFile({ type: 'asset', name: 'texts-de.js', source })
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const file = Object.keys(bundle).find((name) => FILE.test(name))
        const script = `    <script defer data-language="de" src="/${file}"></script>\n`
        return html.replace(/[ \t]*<script type="module"/, (app) => script + app)
      },
    },
  }
}

/** The German sentence of each code; with its English one where that has values to take over. */
function pairSentences(): Record<string, string | [english: string, german: string]> {
  const all = Object.values(catalogues).flatMap((catalogue) => Object.entries(catalogue))
  return Object.fromEntries(
    all.map(([code, [, english]]) => {
      const german = sentences[code as ProblemCode]
      return [code, english.includes('{') ? [english, german] : german]
    }),
  )
}
