import { defineConfig } from 'oxlint'

const contract = ['src/core', 'src/contract', 'src/contract/kit']
const shared = [...contract, 'src/i18n']

/** The rooms of the server's domain, and which other rooms each may use. */
const domainRooms = {
  audit: [],
  evidence: [],
  limits: [],
  'key-proofs': ['limits'],
  sessions: ['key-proofs', 'limits'],
  companies: ['audit', 'evidence', 'limits'],
  mail: ['companies'],
  events: ['companies', 'sessions'],
  history: ['evidence'],
  deposits: ['companies', 'evidence', 'history', 'limits', 'sessions'],
  imports: ['audit', 'limits'],
  accounts: [
    'audit',
    'companies',
    'history',
    'imports',
    'key-proofs',
    'limits',
    'mail',
    'sessions'
  ],
  'host-proofs': ['accounts', 'audit', 'companies', 'limits'],
  demo: ['accounts', 'companies', 'deposits'],
  installation: ['accounts', 'audit', 'companies', 'demo', 'host-proofs', 'key-proofs', 'limits']
}
const rooms = (...names: string[]) => names.map(name => `src/server/domain/${name}`)
/** What every room of the domain may use. */
const domainBase = [...contract, 'src/server/db', 'src/server/domain']

/** Which of our folders a folder may import. A folder that is missing here may not exist. */
export const may: Record<string, string[]> = {
  'src/core': [],
  'src/contract/kit': ['src/core'],
  'src/contract/openapi': contract,
  'src/contract': ['src/core', 'src/contract/kit'],
  'src/i18n': [],
  'src/theme': [],
  'src/workers': contract,
  'src/stores/uploads': shared,
  'src/stores/lists': [...shared, 'src/stores'],
  'src/stores/accounts': [...shared, 'src/workers', 'src/stores', 'src/stores/lists'],
  'src/stores/history': [...shared, 'src/stores', 'src/stores/lists'],
  'src/stores/deposits': [
    ...shared,
    'src/workers',
    'src/stores',
    'src/stores/history',
    'src/stores/uploads'
  ],
  'src/stores/admin': [...shared, 'src/stores', 'src/stores/lists'],
  'src/stores/imports': [
    ...shared,
    'src/workers',
    'src/stores',
    'src/stores/admin',
    'src/stores/lists'
  ],
  'src/stores': [...shared, 'src/workers', 'src/stores/uploads'],
  'src/islands/kit': shared,
  'src/islands/forms': [...shared, 'src/stores', 'src/stores/accounts', 'src/islands/kit'],
  'src/islands/files': [
    ...shared,
    'src/stores',
    'src/stores/accounts',
    'src/stores/history',
    'src/islands/kit'
  ],
  'src/islands/lists': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/stores/lists',
    'src/islands/kit'
  ],
  'src/islands/sign-in': [...shared, 'src/stores/accounts', 'src/islands/kit', 'src/islands/forms'],
  'src/islands/mail-links': [
    ...shared,
    'src/stores',
    'src/stores/accounts',
    'src/islands/kit',
    'src/islands/forms'
  ],
  'src/islands/me': [
    ...shared,
    'src/stores',
    'src/stores/accounts',
    'src/islands/kit',
    'src/islands/forms',
    'src/islands/files',
    'src/islands/api-keys'
  ],
  'src/islands/verify': [...shared, 'src/stores', 'src/islands/kit', 'src/islands/files'],
  'src/islands/deposit': [
    ...shared,
    'src/stores',
    'src/stores/deposits',
    'src/islands/kit',
    'src/islands/files'
  ],
  'src/islands/history': [
    ...shared,
    'src/stores',
    'src/stores/deposits',
    'src/stores/history',
    'src/islands/kit',
    'src/islands/lists',
    'src/islands/files'
  ],
  'src/islands/usage': [...shared, 'src/stores', 'src/stores/admin', 'src/islands/kit'],
  'src/islands/details': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/files',
    'src/islands/kit',
    'src/islands/forms'
  ],
  'src/islands/limits': [...shared, 'src/islands/kit', 'src/islands/forms'],
  'src/islands/groups': [
    'src/islands/files',
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/forms',
    'src/islands/limits',
    'src/islands/lists',
    'src/islands/usage',
    'src/islands/audit'
  ],
  'src/islands/audit': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/forms',
    'src/islands/files',
    'src/islands/lists'
  ],
  'src/islands/admin': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/forms',
    'src/islands/api-keys',
    'src/islands/lists',
    'src/islands/usage'
  ],
  'src/islands/categories': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/forms',
    'src/islands/lists',
    'src/islands/audit'
  ],
  'src/islands/data-sources': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/lists'
  ],
  'src/islands/domains': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/forms',
    'src/islands/lists',
    'src/islands/audit'
  ],
  'src/islands/users': [
    ...shared,
    'src/stores',
    'src/stores/accounts',
    'src/stores/admin',
    'src/stores/lists',
    'src/islands/files',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/forms',
    'src/islands/lists',
    'src/islands/audit',
    'src/islands/api-keys'
  ],
  'src/islands/api-keys': [
    ...shared,
    'src/stores',
    'src/stores/accounts',
    'src/stores/admin',
    'src/islands/kit',
    'src/islands/forms'
  ],
  'src/islands/imports': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/stores/imports',
    'src/islands/kit',
    'src/islands/details',
    'src/islands/forms',
    'src/islands/files',
    'src/islands/lists'
  ],
  'src/components': ['src/core', 'src/i18n'],
  'src/shell/kit': ['src/i18n'],
  'src/shell/upload-progress': [...shared, 'src/stores/deposits', 'src/shell/kit'],
  'src/shell/builds': ['src/shell/kit', 'src/shell/upload-progress'],
  'src/shell/drop': [...shared, 'src/stores', 'src/shell/kit'],
  'src/shell/palette': [...shared, 'src/stores', 'src/shell/kit', 'src/shell/drop'],
  'src/shell': [
    ...shared,
    'src/stores',
    'src/stores/admin',
    'src/shell/kit',
    'src/shell/palette',
    'src/shell/upload-progress',
    'src/shell/builds',
    'src/shell/drop'
  ],
  'src/layouts': ['src/core', 'src/i18n', 'src/theme', 'src/components', 'src/shell'],
  'src/pages': [
    ...shared,
    'src/contract/openapi',
    'src/components',
    'src/layouts',
    'src/islands/sign-in',
    'src/islands/mail-links',
    'src/islands/me',
    'src/islands/verify',
    'src/islands/deposit',
    'src/islands/history',
    'src/islands/admin',
    'src/islands/groups',
    'src/islands/categories',
    'src/islands/data-sources',
    'src/islands/domains',
    'src/islands/audit',
    'src/islands/users',
    'src/islands/imports'
  ],
  'src/server/db': ['src/core'],
  ...Object.fromEntries(
    Object.entries(domainRooms).map(([name, others]) => [
      `src/server/domain/${name}`,
      [...domainBase, ...rooms('idempotency', 'leases', ...others)]
    ])
  ),
  'src/server/domain/idempotency': domainBase,
  'src/server/domain/leases': domainBase,
  'src/server/domain': [...contract, 'src/server/db'],
  'src/server/jobs': [
    ...contract,
    'src/server/domain',
    ...rooms('accounts', 'companies', 'demo', 'deposits', 'events', 'host-proofs'),
    ...rooms('idempotency', 'imports', 'installation', 'key-proofs', 'mail', 'sessions')
  ],
  'src/server/api/kit': [
    ...contract,
    'src/server/domain',
    ...rooms('companies', 'events', 'limits', 'sessions')
  ],
  'src/server/api': [
    ...shared,
    'src/contract/openapi',
    'src/server/compression',
    'src/server/api/kit',
    'src/server/domain',
    ...rooms('accounts', 'audit', 'companies', 'deposits', 'events', 'history', 'host-proofs'),
    ...rooms('imports', 'installation', 'key-proofs', 'limits', 'mail', 'sessions')
  ],
  'src/server/adapters': ['src/core', 'src/i18n', 'src/server/db', 'src/server/domain'],
  'src/server/compression': contract,
  'src/server/site': [...contract, 'src/server/compression'],
  'src/server/uploads': [
    ...contract,
    'src/server/api/kit',
    'src/server/domain',
    ...rooms('deposits', 'sessions')
  ],
  'src/server/http': [
    ...contract,
    'src/server/api/kit',
    'src/server/site',
    'src/server/uploads',
    'src/server/domain',
    ...rooms('companies', 'events')
  ],
  'src/server': [
    ...shared,
    'src/server/db',
    'src/server/adapters',
    'src/server/api',
    'src/server/api/kit',
    'src/server/http',
    'src/server/jobs',
    'src/server/site',
    'src/server/uploads',
    'src/server/domain',
    ...rooms('companies', 'demo', 'deposits', 'events', 'evidence', 'installation'),
    ...rooms('limits', 'sessions')
  ]
}

/** The same for single files, because an element of the plugin is a folder. */
const files = {
  'src/middleware.ts': shared,
  'src/env.d.ts': contract
}

/**
 * The files of a room that others may import. A folder that is missing here is open: each of its files
 * stands for itself.
 */
export const doors: Record<string, string[]> = {
  'src/stores/history': ['request-export.ts', 'request-filter.ts', 'requests.ts'],
  'src/stores/deposits': ['deposit-states.ts', 'deposits.ts'],
  'src/islands/sign-in': ['Setup.tsx', 'SignIn.tsx', 'SignUp.tsx'],
  'src/islands/mail-links': [
    'ActivateAccount.tsx',
    'ConfirmEmail.tsx',
    'ResetPassword.tsx',
    'VerifyAccount.tsx'
  ],
  'src/islands/admin': ['AdminHome.tsx', 'CompanyOverview.tsx', 'CreateCompany.tsx'],
  'src/islands/audit': ['AuditLog.tsx', 'RecentChanges.tsx'],
  'src/islands/groups': ['CreateGroup.tsx', 'GroupDetail.tsx', 'GroupList.tsx'],
  'src/islands/categories': ['CategoryDetail.tsx', 'CategoryList.tsx', 'CreateCategory.tsx'],
  'src/islands/data-sources': ['DataSourceDetail.tsx', 'DataSourceList.tsx'],
  'src/islands/domains': ['CreateDomain.tsx', 'DomainDetail.tsx', 'DomainList.tsx'],
  'src/islands/users': ['CreateUser.tsx', 'UserDetail.tsx', 'UserList.tsx'],
  'src/islands/imports': ['ImportUsers.tsx'],
  'src/islands/api-keys': ['ApiKeys.tsx'],
  'src/islands/me': ['AccountScreen.tsx'],
  'src/islands/verify': ['Verify.tsx'],
  'src/islands/deposit': ['Deposit.tsx'],
  'src/islands/history': ['RequestHistory.tsx'],
  'src/shell/upload-progress': ['running-uploads.ts'],
  'src/shell/drop': ['drop-anywhere.ts', 'dropped-files.ts', 'home-drop-zone.ts'],
  'src/shell/palette': ['palette.ts'],
  'src/server/domain/accounts': [
    'bulk-changes.ts',
    'deletions.ts',
    'email-changes.ts',
    'invitation-links.ts',
    'invitations.ts',
    'member-changes.ts',
    'api-keys.ts',
    'members.ts',
    'new-users.ts',
    'passwords.ts',
    'signups.ts',
    'user-import-rows.ts',
    'user-import-row-handlers.ts',
    'users.ts'
  ],
  'src/server/domain/companies': [
    'attention.ts',
    'certificate-names.ts',
    'categories.ts',
    'companies.ts',
    'data-sources.ts',
    'domain-admin.ts',
    'domain-rows.ts',
    'domain-themes.ts',
    'host-names.ts',
    'group-members.ts',
    'groups.ts',
    'new-companies.ts',
    'served-hosts.ts',
    'usage-days.ts'
  ],
  'src/server/domain/demo': ['demo.ts'],
  'src/server/domain/deposits': [
    'company-deposits.ts',
    'deposits.ts',
    'direct-uploads.ts',
    'file-checks.ts',
    'file-retention.ts',
    'held-uploads.ts',
    'idle-uploads.ts',
    'intake.ts',
    'upload-leases.ts',
    'upload-settlement.ts',
    'uploads.ts',
    'verifications.ts'
  ],
  'src/server/domain/audit': [
    'audit-check.ts',
    'audit-entries.ts',
    'audit-history-reads.ts',
    'audit-list.ts'
  ],
  'src/server/domain/evidence': ['company-keys.ts', 'sealed-openings.ts'],
  'src/server/domain/events': ['event-streams.ts', 'events.ts'],
  'src/server/domain/history': ['request-export.ts', 'requests.ts'],
  'src/server/domain/imports': ['import-work.ts', 'imports.ts'],
  'src/server/domain/host-proofs': ['domain-checks.ts', 'domain-claims.ts'],
  'src/server/domain/installation': ['company-creation.ts', 'installation.ts', 'setup.ts'],
  'src/server/domain/key-proofs': ['challenges.ts', 'key-proofs.ts', 'public-keys.ts'],
  'src/server/domain/limits': ['bounds.ts', 'quotas.ts', 'rate-limits.ts', 'usage.ts'],
  'src/server/domain/mail': ['mail-queue.ts', 'mail-tokens.ts'],
  'src/server/domain/sessions': [
    'access-tokens.ts',
    'authentication.ts',
    'caller-watch.ts',
    'download-links.ts',
    'api-key-secrets.ts',
    'logins.ts',
    'sessions.ts'
  ],
  'src/server/adapters': [
    'blobs.ts',
    'dns.ts',
    'keys.ts',
    'log.ts',
    'mail-transport.ts',
    'signals.ts'
  ],
  'src/server/http': ['connections.ts', 'gate.ts', 'hosts.ts', 'listener.ts', 'places.ts'],
  'src/server/site': ['astro-build.ts', 'site.ts'],
  'src/server/uploads': ['direct-put.ts', 'upload-routes.ts']
}

/** Packages that only one place may know: changing them stays a change of that place. */
const only = {
  'src/islands/**': ['react', 'react-dom', '@nanostores/react'],
  'src/server/db/**': ['pg', 'pg-*'],
  'src/server/{db,domain}/**': ['kysely'],
  'src/server/{api/**,compression/**,http/**,site/**,*.ts}': ['hono', '@hono/*'],
  'src/server/**': ['node:*']
}

/** They may import anything, and nothing under src may import them. */
const outside = ['tests', 'bench']

export default defineConfig({
  plugins: ['import'],
  jsPlugins: ['eslint-plugin-boundaries'],
  categories: { correctness: 'off' },
  settings: {
    'boundaries/include': ['src/**/*', 'tests/**/*', 'bench/**/*'],
    // The first match wins, so nested folders stand before their parents.
    'boundaries/elements': [...Object.keys(may), ...outside].map(folder => ({
      type: folder,
      pattern: folder
    })),
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
          { allow: { to: { module: { origin: ['external', 'core'] } } } },
          ...Object.entries(may).map(([from, to]) => ({
            from: { element: { type: from } },
            allow: { to: { element: { types: { anyOf: to } } } }
          })),
          ...Object.entries(files).map(([from, to]) => ({
            from: { file: { categories: from } },
            allow: { to: { element: { types: { anyOf: to } } } }
          })),
          ...Object.entries(doors).map(([room, files]) => ({
            from: { element: { type: `!${room}` } },
            disallow: { to: { file: { path: `${room}/!(${files.join('|')})` } } }
          })),
          ...Object.entries(only).map(([home, source]) => ({
            from: { file: { path: `!${home}` } },
            disallow: { to: { module: { origin: ['external', 'core'], source } } }
          })),
          {
            from: { element: { types: { anyOf: outside } } },
            allow: { to: { module: { origin: ['local', 'external', 'core'] } } }
          }
        ]
      }
    ]
  }
})
