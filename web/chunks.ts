// Lists the modules that share a file. Without this, each module that two pages share would be a separate file, and
// a page would need a hundred requests. e2e/weight.test.ts has the limits.

const mantine = (...components: string[]) =>
  `node_modules/@mantine/core/esm/components/(?:${components.join('|')})/`

/** Every page needs these. */
const CORE = [
  'node_modules/(?:react|react-dom|scheduler|use-sync-external-store|clsx|@tanstack/.*?)/',
  'node_modules/@mantine/core/(?:esm/core/MantineProvider|styles/(?:baseline|global))',
  'web/src/(?:main|routes)\\.tsx',
  'web/src/api/(?!upload|proof)',
  'web/src/theme/',
  'web/src/session/(?!account-view|fresh-sign-in-dialog|sign-in)',
  'web/src/shell/(?:root|error-page|booted|palette-events|main-focus)',
  'web/src/billing/(?:plans|use-plans)\\.ts',
  'web/src/conversations/parts/action-button',
  'web/src/components/(?:browser-list|brand|color-scheme|format|lazy-part|loaded|logo|new-id|notice|sandbox-mail|title)\\.tsx?',
]

/** Modules that every page behind the sign-in needs in addition, and those of both overviews. */
const SHELL = [
  'web/src/shell/(?:app-layout|side-menu|menu-items|place-switch|shortcuts|use-places|allowance-bar|verify-bar|navigation)',
  'web/src/conversations/(?:sidebar/(?!local)|parts/(?!pick)|queries|api|local/conversation-list)',
  'web/src/usage/(?:usage-query|renewal|describe-renewal|days)\\.tsx?',
  'web/src/components/(?:page|toasts)\\.tsx?',
  'web/src/overview/(?:panel|row|failures|queries|recent-files|overview-page\\.module)',
  'web/src/library/files-query',
]

/** Signing in, in all its forms. */
const SIGN_IN = [
  'web/src/(?:sign-in|register|password|email)/(?!storefront)',
  'web/src/session/sign-in\\.ts',
  'web/src/components/auth-page',
]

/** Small parts of many pages. */
const PARTS = [
  'node_modules/@mantine/core/esm/core/',
  mantine(
    'ActionIcon',
    'Alert',
    'Anchor',
    'Badge',
    'Button',
    'Card',
    'Center',
    'CloseButton',
    'Container',
    'Divider',
    'Group',
    'Paper',
    'Progress',
    'SimpleGrid',
    'Skeleton',
    'Stack',
    'List',
    'Loader',
    'Code',
    'Text',
    'ThemeIcon',
    'Title',
    'Transition',
    'UnstyledButton',
    'VisuallyHidden',
  ),
  'web/src/components/(?:choice|copy|form-problem|links|plan-badge|scroll-x|stat|use-copy)\\.tsx?',
  'web/src/documents/table-text',
]

const FORMS = [
  'node_modules/(?:@mantine/form|klona|fast-deep-equal)/',
  'node_modules/@mantine/core/esm/utils/InlineInput/',
  mantine('Checkbox', 'Input', 'InputBase', 'PasswordInput', 'PinInput', 'Textarea', 'TextInput'),
  'web/src/components/api-form',
]

const OVERLAYS = [
  'node_modules/(?:@floating-ui/.*?|react-remove-scroll.*?|use-sidecar|use-callback-ref|react-style-singleton|tslib|get-nonce|aria-hidden|tabbable)/',
  mantine(
    'Combobox',
    'Drawer',
    'FocusTrap',
    'Menu',
    'Modal',
    'ModalBase',
    'Overlay',
    'Popover',
    'Portal',
    'ScrollArea',
    'SegmentedControl',
    'Select',
    'Switch',
    'Table',
    'Tabs',
    'Tooltip',
  ),
  'web/src/components/return-focus',
]

/** The menu of operators. Its icons would otherwise be in every page's file of icons. */
const RUN = [
  'web/src/shell/run-pages',
  '@tabler/icons-react/.*/Icon(?:Activity|Ban|BuildingStore|Coin|Cpu|CreditCard|FileCode|Hourglass|Heartbeat|Inbox|Palette|PlugConnected|Receipt|ReceiptRefund|Scale|SunHigh|Tags|Users)\\.',
]

/** The menu of developers, likewise. */
const BUILD = [
  'web/src/shell/build-(?:menu|pages)',
  '@tabler/icons-react/.*/Icon(?:Book|ChartBar|ListDetails|Tags|Terminal2|Timeline)\\.',
]

/** Small parts of the pages of Run. */
const DESK = [
  'web/src/shop/(?:amount|facts|inbox-query|more-rows|order-status|orders-query|products-query|table\\.module)',
  'web/src/components/(?:data-table|endless-list|export-button|filters)',
  'web/src/customers/state-badges',
]

/** The names of groups of calls, and the states of calls, on pages about usage and money. */
const CALLS = ['web/src/usage/group-name', 'web/src/calls/outcome-badge']

/** Answers and code, apart from maths and colors, which load on demand. */
const MARKDOWN = ['web/src/markdown/(?:markdown|code-block|render|lexer|block-reader)\\.']

/** Search in files, on Home and in the library. */
const SEARCH = [
  'web/src/library/(?:library-search|search-(?:hints|home))',
  'web/src/documents/passage\\.',
]

export const CHUNKS = [
  { name: 'core', test: matchAny(CORE), priority: 6 },
  { name: 'shell', test: matchAny(SHELL), priority: 5 },
  { name: 'run', test: matchAny(RUN), priority: 4 },
  { name: 'build', test: matchAny(BUILD), priority: 4 },
  { name: 'parts', test: matchAny(PARTS), priority: 3 },
  { name: 'forms', test: matchAny(FORMS), priority: 2 },
  { name: 'overlays', test: matchAny(OVERLAYS), priority: 1 },
  { name: 'desk', test: matchAny(DESK), priority: 1 },
  { name: 'calls', test: matchAny(CALLS), priority: 1 },
  { name: 'markdown', test: matchAny(MARKDOWN), priority: 1 },
  { name: 'search', test: matchAny(SEARCH), priority: 1 },
  { name: 'sign-in', test: matchAny(SIGN_IN), priority: 1 },
  { name: 'icons', test: /[\\/]@tabler[\\/]/, minShareCount: 2 },
]

function matchAny(paths: string[]): RegExp {
  return new RegExp(paths.map((path) => `(?:${path.replaceAll('/', '[\\\\/]')})`).join('|'))
}
