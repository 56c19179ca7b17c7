import { defineConfig } from 'oxlint'

const shared = ['src/core', 'src/contract', 'src/i18n']

/** Which of our folders a folder may import. A folder that is missing here may not exist. */
const may = {
  'src/core': [],
  'src/contract': ['src/core'],
  'src/i18n': [],
  'src/theme': [],
  'src/workers': ['src/core', 'src/contract'],
  'src/stores/accounts': [...shared, 'src/workers', 'src/stores'],
  'src/stores/history': [...shared, 'src/stores'],
  'src/stores/deposits': [...shared, 'src/workers', 'src/stores', 'src/stores/history'],
  'src/stores': [...shared, 'src/workers'],
  'src/islands/kit': shared,
  'src/islands/forms': [...shared, 'src/stores', 'src/stores/accounts', 'src/islands/kit'],
  'src/islands/files': [...shared, 'src/stores', 'src/stores/accounts', 'src/stores/history'],
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
    'src/islands/files'
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
    'src/islands/files'
  ],
  'src/islands/limits': [...shared, 'src/islands/kit'],
  'src/components': ['src/core', 'src/i18n'],
  'src/shell/kit': ['src/i18n'],
  'src/shell/uploads': [...shared, 'src/stores/deposits', 'src/shell/kit'],
  'src/shell/builds': ['src/shell/kit', 'src/shell/uploads'],
  'src/shell/drop': [...shared, 'src/stores', 'src/shell/kit'],
  'src/shell': [
    ...shared,
    'src/stores',
    'src/shell/kit',
    'src/shell/uploads',
    'src/shell/builds',
    'src/shell/drop'
  ],
  'src/layouts': ['src/core', 'src/i18n', 'src/theme', 'src/components', 'src/shell'],
  'src/pages': [
    ...shared,
    'src/components',
    'src/layouts',
    'src/islands/sign-in',
    'src/islands/mail-links',
    'src/islands/me',
    'src/islands/verify',
    'src/islands/deposit',
    'src/islands/history'
  ],
  'src/server/db': ['src/core'],
  'src/server/domain': ['src/core', 'src/contract', 'src/server/db'],
  'src/server/jobs': ['src/core', 'src/contract', 'src/server/domain'],
  'src/server/api': ['src/core', 'src/contract', 'src/i18n', 'src/server/domain'],
  'src/server': [
    'src/core',
    'src/contract',
    'src/i18n',
    'src/server/db',
    'src/server/domain',
    'src/server/jobs',
    'src/server/api'
  ]
}

/** The same for single files, because an element of the plugin is a folder. */
const files = {
  'src/middleware.ts': ['src/core', 'src/contract', 'src/i18n'],
  'src/env.d.ts': ['src/contract']
}

/**
 * The files of a room that others may import. A folder that is missing here is open: each of its files
 * stands for itself.
 */
const doors = {
  'src/stores/history': [
    'event-stream.ts',
    'request-details.ts',
    'request-export.ts',
    'request-filter.ts',
    'request-list.ts',
    'requests.ts'
  ],
  'src/stores/deposits': [
    'cancel-upload.ts',
    'deposit-mutations.ts',
    'deposit-queue.ts',
    'deposit-states.ts',
    'deposits.ts'
  ],
  'src/islands/sign-in': ['Setup.tsx', 'SignIn.tsx', 'SignUp.tsx'],
  'src/islands/mail-links': [
    'ActivateAccount.tsx',
    'ConfirmEmail.tsx',
    'ResetPassword.tsx',
    'VerifyAccount.tsx'
  ],
  'src/islands/me': ['Me.tsx'],
  'src/islands/verify': ['Verify.tsx'],
  'src/islands/deposit': ['Deposit.tsx'],
  'src/islands/history': ['History.tsx'],
  'src/shell/uploads': ['running-uploads.ts'],
  'src/shell/builds': ['build-guard.ts', 'build-notice.ts', 'lost-files.ts'],
  'src/shell/drop': ['drop-anywhere.ts', 'drop-overlay.ts', 'dropped-files.ts', 'home-drop-zone.ts']
}

/** Packages that only one place may know: changing them stays a change of that place. */
const only = {
  'src/islands/**': ['react', 'react-dom', '@nanostores/react'],
  'src/server/db/**': ['pg', 'pg-*'],
  'src/server/{db,domain}/**': ['kysely'],
  'src/server/{api/**,http/**,*.ts}': ['hono', '@hono/*'],
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
    'import/no-cycle': 'error',
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
