// `release publish` stores, packs and publishes a folder or a ZIP as a release of a product. Running
// services offer it within a second.
import { readFile, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { inFile } from '#platform/content.ts'
import { ProductList } from '#storefront/products/product-list.ts'
import { openProducts } from '#storefront/products/products.ts'
import { publishRelease, uploadRelease } from '#storefront/products/release-editing.ts'
import { openReleaseFolder, openReleaseZip } from '#storefront/products/release-files.ts'
import type { Context } from './context.ts'

export const USAGE = `Usage: release publish SLUG VERSION DIR|ZIP [--notes FILE]

  Publishes the files of a folder or of a ZIP as a release of the product SLUG, and lists what is left
  out. FILE has its notes as Markdown. Run it as the user of the service.`

export async function run(args: string[], { platform, print }: Context): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { notes: { type: 'string' } },
  })
  const [verb, slug, version, path, ...rest] = positionals
  if (verb !== 'publish' || !slug || !version || !path || rest.length > 0) {
    print(USAGE)
    return 2
  }
  const notes = values.notes === undefined ? '' : await readFile(values.notes, 'utf8')
  const opened = await platform()
  const productList = await ProductList.read(opened)
  const tier = productList.findBySlug(slug)?.tier
  if (tier === undefined) {
    print(
      `no product has the slug '${slug}': ${productList.sold.map((one) => one.slug).join(', ')}`,
    )
    return 1
  }
  const { leftOut, ...release } = await openRelease(path)
  for (const { path: file, reason } of leftOut) print(`left out: ${file} (${reason})`)
  const deps = { ...opened, productList, products: openProducts(opened.config.products, opened) }
  const request = { actorId: null, tier, version }
  await uploadRelease(deps, request, { ...release, leftOut, notes })
  const { file_count, sha256 } = await publishRelease(deps, request)
  print(`${slug} ${version} is published: ${file_count} files, SHA-256 of the plain ZIP ${sha256}`)
  return 0
}

async function openRelease(path: string) {
  const found = await stat(path)
  return found.isDirectory() ? openReleaseFolder(path) : openReleaseZip(inFile(path, found.size))
}
