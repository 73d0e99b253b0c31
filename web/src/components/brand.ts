/** The operator's PRODUCT_NAME, which the service writes into the page. */
export const BRAND =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content || 'Latchkey'
