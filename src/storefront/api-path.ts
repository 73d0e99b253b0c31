/** Distinguishes the API on this server from its pages. */
export const STOREFRONT_API = /^\/(api|v1)(\/|$)/
