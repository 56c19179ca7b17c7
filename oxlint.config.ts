import { defineConfig } from 'oxlint'

const contract = 'core contract contract/kit'
const shared = `${contract} i18n`
const domain = `${contract} server/db server/domain`
const roomsOf = (names: string) => names.replaceAll(/\S+/g, 'server/domain/$&')

/** Which folders below `src` a layer may import. `a/*` stands for `a` and all its rooms. */
const layers: Record<string, string> = {
  core: '',
  contract: 'core contract/kit',
  'contract/kit': 'core',
  'contract/openapi': contract,
  i18n: '',
  theme: '',
  workers: contract,
  stores: `${shared} workers stores/uploads`,
  'stores/uploads': shared,
  'islands/kit': shared,
  components: 'core i18n',
  shell: `${shared} stores stores/admin shell/*`,
  'shell/kit': 'i18n',
  layouts: 'core i18n theme components shell',
  site: shared,
  pages: `${shared} contract/openapi components layouts`,
  server: `${shared} server/db server/adapters server/api server/api/kit server/http server/jobs server/site server/uploads server/domain/* site server/compression`,
  'server/adapters': 'core i18n server/db server/domain',
  'server/api': `${shared} contract/openapi server/compression site server/api/kit server/domain/*`,
  'server/api/kit': `${contract} server/domain ${roomsOf('companies events limits sessions')}`,
  'server/compression': 'core site',
  'server/db': 'core',
  'server/domain': `${contract} server/db`,
  'server/domain/idempotency': domain,
  'server/domain/leases': domain,
  'server/http': `${contract} site server/api/kit server/uploads server/domain ${roomsOf('companies events evidence')}`,
  'server/jobs': `${contract} server/domain/*`,
  'server/site': `${contract} site > astro-build`,
  'server/uploads': `${contract} server/api/kit server/domain ${roomsOf('deposits registers sessions')} > direct-put register-put upload-routes`
}

/**
 * What all rooms of a layer may import (`*`), and what each may import besides. `>` precedes the doors of a
 * room that hides its other files. Pages hydrate the doors of islands.
 */
const rooms: Record<string, Record<string, string>> = {
  stores: {
    '*': `${shared} workers stores`,
    accounts: 'lists',
    admin: 'lists',
    deposits: 'history uploads > deposit-states deposits',
    history: 'lists > request-export request-filter requests',
    imports: 'admin lists uploads',
    lists: ''
  },
  islands: {
    '*': `${shared} stores islands/kit`,
    admin: 'api-keys forms lists usage stores/admin > AdminHome CompanyOverview CreateCompany',
    'api-keys': 'forms stores/accounts stores/admin > ApiKeys',
    audit: 'files forms lists stores/admin > AuditLog RecentChanges',
    categories:
      'audit details forms lists stores/admin > CategoryDetail CategoryList CreateCategory',
    'data-sources':
      'audit details forms lists stores/admin > CreateDataSource DataSourceDetail DataSourceList',
    deposit: 'files stores/deposits > Deposit',
    details: 'files forms stores/admin',
    domains: 'audit details forms lists stores/admin > CreateDomain DomainDetail DomainList',
    files: 'stores/accounts stores/history',
    forms: 'stores/accounts',
    groups:
      'audit details files forms limits lists usage stores/admin > CreateGroup GroupDetail GroupList',
    history: 'files lists stores/deposits stores/history > RequestHistory',
    imports: 'details files forms lists stores/admin stores/imports > ImportRegister ImportUsers',
    limits: 'forms',
    lists: 'stores/admin stores/lists',
    'mail-links':
      'forms stores/accounts > ActivateAccount ConfirmEmail ResetPassword VerifyAccount',
    me: 'api-keys files forms stores/accounts > AccountScreen',
    'sign-in': 'forms stores/accounts > Setup SignIn SignUp',
    usage: 'stores/admin',
    users:
      'api-keys audit details files forms lists stores/accounts stores/admin stores/lists > CreateUser UserDetail UserList',
    verify: 'files forms > Verify'
  },
  shell: {
    '*': `${shared} stores shell/kit`,
    builds: 'upload-progress',
    drop: '> drop-anywhere dropped-files home-drop-zone',
    palette: 'drop > palette',
    'upload-progress': 'stores/deposits > running-uploads'
  },
  'server/domain': {
    '*': `${domain} server/domain/idempotency server/domain/leases`,
    accounts: 'audit companies history imports key-proofs limits mail sessions',
    audit: '',
    companies: 'audit evidence limits',
    demo: 'accounts companies deposits > demo',
    deposits: 'companies evidence history limits registers sessions',
    events: 'companies evidence sessions',
    evidence: '',
    history: 'evidence',
    'host-proofs': 'accounts audit companies limits',
    imports: 'audit limits',
    installation: 'accounts audit companies demo host-proofs key-proofs limits',
    'key-proofs': 'limits',
    limits: '',
    mail: 'companies',
    registers: 'audit evidence limits',
    sessions: 'key-proofs limits'
  }
}

/** Packages that only one place may know: changing them stays a change of that place. */
export const only = {
  'src/islands/**': ['react', 'react-dom', '@nanostores/react'],
  'src/server/db/**': ['pg', 'pg-*'],
  'src/server/{db,domain}/**': ['kysely'],
  'src/{site/**,server/{api/**,http/**,site/**,*.ts}}': ['hono', '@hono/*'],
  'src/server/**': ['node:*']
}

// they may import anything, and nothing under src may import them
const outside = ['tests', 'bench']

const rows: Record<string, string> = { ...layers }
for (const [layer, { '*': all, ...each }] of Object.entries(rooms)) {
  for (const [room, row] of Object.entries(each)) {
    const [others = '', names = ''] = row.split('> ')
    const besides = others.replaceAll(/(?<![\w/-])[\w-]+(?![\w/-])/g, `${layer}/$&`)
    rows[`${layer}/${room}`] = `${all} ${besides}> ${names}`
  }
}

/** The files of a room that others may import. Without an entry, all files are open. */
export const doors: Record<string, string[]> = {}
/** Which of our folders a folder may import. A folder that is missing here may not exist. */
export const may: Record<string, string[]> = {}
for (const [from, row] of Object.entries(rows)) {
  const [others = '', names] = row.split('> ')
  const extension = from.startsWith('islands/') ? 'tsx' : 'ts'
  if (names) doors[`src/${from}`] = names.split(' ').map(name => `${name}.${extension}`)
  const folders = (others.match(/\S+/g) ?? []).flatMap(name => {
    const layer = name.replace('/*', '')
    const inLayer = (each: string) => `${each}/`.startsWith(`${layer}/`)
    return name === layer ? [name] : Object.keys(rows).filter(inLayer)
  })
  may[`src/${from}`] = folders.filter(name => name !== from).map(name => `src/${name}`)
}
may['src/pages']?.push(...Object.keys(doors).filter(room => room.startsWith('src/islands/')))

/** The same for single files, because an element of the plugin is a folder. */
const files: Record<string, string[]> = {
  'src/middleware.ts': may['src/islands/kit'] ?? [],
  'src/env.d.ts': [...(may['src/workers'] ?? []), 'src/site']
}

const packages = ['external', 'core']
const folders = (types: string[]) => ({ element: { types: { anyOf: types } } })
const allow = (from: object, to: object) => ({ from, allow: { to } })

/** Runs in browsers and on edge runtimes, too, which lack these. */
const portable = ['src/middleware.ts', ...Object.keys(may).filter(name => !name.includes('server'))]

export default defineConfig({
  plugins: ['import'],
  jsPlugins: ['eslint-plugin-boundaries'],
  categories: { correctness: 'off' },
  settings: {
    'boundaries/include': ['src/**/*', 'tests/**/*', 'bench/**/*'],
    // The first match wins, so nested folders stand before their parents.
    'boundaries/elements': [...Object.keys(may), ...outside]
      .toSorted((one, other) => other.length - one.length)
      .map(folder => ({ type: folder, pattern: folder })),
    'boundaries/files': Object.keys(files).map(file => ({ category: file, pattern: file }))
  },
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'boundaries/no-unknown-files': 'error',
    'boundaries/dependencies': [
      'error',
      {
        default: 'disallow',
        checkAllOrigins: true,
        checkUnknownLocals: true,
        // The last matching policy wins.
        policies: [
          { allow: { to: { module: { origin: packages } } } },
          ...Object.entries(may).map(([type, to]) => allow({ element: { type } }, folders(to))),
          ...Object.entries(files).map(([name, to]) =>
            allow({ file: { categories: name } }, folders(to))
          ),
          ...Object.entries(doors).map(([room, names]) => ({
            from: { element: { type: `!${room}` } },
            disallow: { to: { file: { path: `${room}/!(${names.join('|')})` } } }
          })),
          ...Object.entries(only).map(([home, source]) => ({
            from: { file: { path: `!${home}` } },
            disallow: { to: { module: { origin: packages, source } } }
          })),
          allow(folders(outside), { module: { origin: ['local', ...packages] } })
        ]
      }
    ]
  },
  overrides: [
    {
      files: portable.map(name => (name.endsWith('.ts') ? name : `${name}/**`)),
      rules: { 'no-restricted-globals': ['error', 'Buffer', 'process'] }
    }
  ]
})
