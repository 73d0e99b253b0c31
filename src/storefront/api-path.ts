/** What is an API on this server, and no page. */
export const STOREFRONT_API = /^\/(api|v1)(\/|$)/
