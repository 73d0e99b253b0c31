// `sync` uploads a folder over the public API with a key. `calibrate` measures the operator's
// embedder.
import { parseArgs } from 'node:util'
import { clientSettingsFromProcess } from '#config/config.ts'
import type { Context } from './context.ts'
import { calibrateEmbedder } from './rag/calibrate.ts'
import { syncFolder } from './rag/sync.ts'

export const USAGE = `Usage: rag sync DIR [--url URL] [--as NAME] [--ignore PATTERN]… [--delete] [--dry-run] [--state FILE]

  Uploads new and changed files of DIR. A document's id is NAME/path (default NAME: the name of DIR), and answers
  cite its path in DIR. Skips empty files, names that begin with a dot, node_modules, and the patterns of --ignore and
  DIR/.latchkeyignore, such as *.log, drafts/, notes/**/*.txt.
  --delete removes documents whose file no longer exists.
  Reads the key from LATCHKEY_API_KEY (or LATCHKEY_API_KEY_FILE), and the default of --url from LATCHKEY_URL.

       rag calibrate [FILE] [--dry-run]

  Embeds a few questions and texts, or those of FILE, with EMBEDDER, and prints the model's \`similarity\` for MODELS.
  FILE has one pair per line: {"question": "…", "text": "…"}. A text must answer its own question only. --dry-run only
  estimates the cost.`

export async function run([verb, ...args]: string[], context: Context): Promise<number> {
  const { print } = context
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      as: { type: 'string' },
      ignore: { type: 'string', multiple: true },
      delete: { type: 'boolean' },
      'allow-empty': { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      state: { type: 'string' },
    },
  })
  const [folder, ...others] = positionals
  const isTrial = values['dry-run'] ?? false
  if (verb === 'calibrate' && others.length === 0)
    return calibrateEmbedder(context, { file: folder ?? null, isTrial })
  if (verb !== 'sync' || folder === undefined || others.length > 0) {
    print(USAGE)
    return 2
  }
  const settings = clientSettingsFromProcess()
  if (settings.apiKey === null)
    throw new Error('set LATCHKEY_API_KEY to an API key (POST /api/api-keys, or the user app)')
  return syncFolder({
    folder,
    url: values.url ?? settings.url,
    key: settings.apiKey,
    name: values.as ?? null,
    ignore: values.ignore ?? [],
    deletes: values.delete ?? false,
    allowsEmpty: values['allow-empty'] ?? false,
    isTrial,
    stateFile: values.state ?? null,
    print,
  })
}
