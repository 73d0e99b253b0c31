/** Describes the shop and its products for search engines, in the types of schema.org. */
import type { Config } from '#config/config.ts'
import { type StructuredData, socialImageUrl } from './listing.ts'
import { plainText } from './markdown.ts'
import type { Offer } from './offers.ts'

export function describeShop(config: Config): StructuredData[] {
  const { storefront } = config.urls
  const { name, legalName } = config.brand
  return [
    { '@type': 'WebSite', name, url: `${storefront}/` },
    {
      '@type': 'Organization',
      name,
      ...(legalName === name ? {} : { legalName }),
      url: `${storefront}/`,
      logo: storefront + config.brand.iconPath,
    },
  ]
}

export function describeProduct(
  config: Config,
  { product, isForSale, members }: Offer,
): StructuredData[] {
  const { storefront } = config.urls
  const { name, slug, tier, price, currency, description, gallery, images, faq } = product
  const url = `${storefront}/products/${slug}`
  const brand = { '@type': 'Brand', name: config.brand.name }
  const pictures = [...gallery.map((picture) => picture.url), ...images]
  const offer = {
    '@type': 'Offer',
    url,
    price: String(price),
    priceCurrency: currency.toUpperCase(),
    availability: `https://schema.org/${isForSale ? 'InStock' : 'OutOfStock'}`,
    ...(members.length === 0
      ? {}
      : {
          includesObject: members.map((member) => ({
            '@type': 'TypeAndQuantityNode',
            amountOfThisGood: 1,
            typeOfGood: {
              '@type': 'Product',
              name: `${config.brand.name} ${member.name}`,
              url: `${storefront}/products/${member.slug}`,
            },
          })),
        }),
  }
  return [
    {
      '@type': 'Product',
      name: `${brand.name} ${name}`,
      description: plainText(description) || name,
      sku: tier,
      url,
      image:
        pictures.length > 0
          ? pictures
          : [socialImageUrl(config) ?? storefront + config.brand.iconPath],
      brand,
      offers: offer,
    },
    describePlace([
      ['Products', `${storefront}/pricing`],
      [name, url],
    ]),
    ...(faq.length === 0
      ? []
      : [
          {
            '@type': 'FAQPage',
            mainEntity: faq.map(({ question, answer }) => ({
              '@type': 'Question',
              name: question,
              acceptedAnswer: { '@type': 'Answer', text: plainText(answer) },
            })),
          },
        ]),
  ]
}

export function describePlace(steps: readonly [name: string, url: string][]): StructuredData {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: steps.map(([name, item], index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      item,
    })),
  }
}
