/** Texts of the pages that everyone reads: layout, home, prices, products. */
export const en = {
  layout: {
    skip: 'Skip to content',
    main: 'Main',
    pricing: 'Pricing',
    models: 'Models',
    docs: 'Docs',
    contact: 'Contact',
    purchases: 'Your purchases',
    signOut: 'Sign out',
    signIn: 'Sign in',
    lostKey: 'Lost your key?',
    withdraw: 'Withdraw from a purchase',
    status: 'Status',
    account: 'Your account',
    language: 'Language',
  },

  notFound: {
    title: 'Not found',
    heading: 'Page not found',
    text: 'There is no page at this address. Check the link.',
    back: 'Back to home',
  },

  home: {
    builtIn: {
      title: 'Ship your AI product this month, not next year.',
      text: 'Accounts, payments, retrieval and deployment, tested and with full source code. Pay once, keep it forever, and get updates for twelve months.',
    },
    plansOnly: {
      title: 'Choose a plan',
      text: 'Create an account for free. Cancel a plan at any time; it then lasts until its period ends.',
    },
    nothing: {
      title: 'Coming soon',
      text: 'Nothing is for sale at the moment.',
    },
    general: {
      title: 'Buy once, keep it forever',
      text: 'One payment, no subscription. Download at once, and update as long as your updates last.',
    },
    eyebrow: (brand: string) => `${brand} starter kits`,
    points: 'What every purchase includes',
    delivery: 'Instant delivery',
    deliveryText: 'Download an encrypted ZIP when you have paid. We email you the license key.',
    recovery: 'Easy to recover',
    recoveryText:
      'Five downloads of each release, which you can resume if the connection fails. Lost your key? We’ll email it to you.',
    withoutEnd: 'Updates without end',
    withoutEndText: 'The price includes every future release.',
    updates: (months: number) => `${months === 1 ? 'A month' : `${months} months`} of updates`,
    updatesText: (months: number) =>
      `The price includes every release of the next ${months === 1 ? 'month' : `${months} months`}. You can still download them later.`,
  },

  pricing: {
    title: 'Pricing',
    cancelled: 'Checkout cancelled.',
    notCharged: 'You were not charged.',
    codeBefore: 'Code',
    codeAfter: 'is applied at checkout.',
    planOrProduct: 'Subscribe to a plan, or pay once for a product.',
    cancelAnytime: 'Cancel at any time; your plan then lasts until its period ends.',
    plans: 'Plans',
    once: 'Pay once, no subscription',
    nothing: 'No products are for sale at the moment.',
    compare: 'Compare',
    comparison: 'Comparison',
    price: 'Price',
    included: 'Included',
    notIncluded: 'Not included',
    ladder: 'Each tier includes everything in the tier before it. ',
    currencies: (currencies: string) =>
      `Prices are in ${currencies}. You can enter a promotion code at checkout.`,
    recommended: 'Recommended',
    oneTime: 'one-time payment',
    toDownload: 'Go to your download',
    buy: (name: string) => `Buy ${name}`,
    free: 'Free',
    get: (name: string) => `Get ${name}`,
    freeTerms: { email: 'with your email address', account: 'with a verified account' },
    comingSoon: 'Coming soon',
    inTheZip: 'In the ZIP:',
    allFiles: (files: string) => `all ${files}`,
    allFilesOf: (files: string, name: string) => `All ${files} of ${name}`,
    description: (names: string, isOnce: boolean) =>
      `Prices of ${names}${isOnce ? ': pay once, no subscription' : ''}.`,
  },

  plans: {
    get: (name: string) => `Get ${name}`,
    createAccount: 'Create a free account',
    trial: (days: number) => ` · ${days}-day free trial`,
    forever: 'forever',
    priceLater: 'You see the price before you pay',
    orPerYear: (amount: string) => ` or ${amount} per year`,
    perYear: 'per year',
    perMonth: 'per month',
  },

  product: {
    breadcrumb: 'Breadcrumb',
    products: 'Products',
    features: 'What you get',
    inside: 'In this bundle',
    alone: (price: string) => `Bought one by one: ${price}`,
    updatesOfEach: 'Updates as long as each product has them',
    files: 'What’s in the ZIP',
    changelog: 'Changelog',
    questions: 'Questions',
    terms: 'License terms',
    release: (version: string) => `Release ${version} of`,
    taxNotes: {
      off: '',
      exclusive: ', plus the tax of your country',
      inclusive: ', tax included',
    },
    notYet: 'Coming soon. This product cannot be bought yet.',
    upgrade: (from: string, price: string) => `Upgrade from ${from} for ${price}`,
    upgradeFree: (from: string) => `Upgrade from ${from} at no charge`,
    version: (version: string) => `Version ${version}, of`,
    allUpdates: 'All future updates',
    updates: (months: number) => `${months === 1 ? '1 month' : `${months} months`} of updates`,
    thenAgain: (price: string, months: number) =>
      `, then ${price} for another ${months === 1 ? 'month' : `${months} months`}`,
    atOnce: 'Download at once; the license key comes by email',
    atOnceBundle: 'Download at once; the license keys come by email',
    withdraw: 'Withdraw within 14 days',
    optional: '(optional)',
    fallback: (name: string) => `${name}: pay once, download at once.`,
  },

  changelog: {
    of: (name: string) => `Changelog of ${name}`,
    follow: 'Follow new releases as feed:',
    none: 'There is no release yet.',
    earlier: 'Earlier changes',
    older: 'Older releases',
    all: 'All releases',
    description: (name: string) => `Every release of ${name}, with its notes.`,
  },

  files: {
    count: (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`),
    more: (files: string) => `and ${files} more`,
  },
}

export type ShopMessages = typeof en
