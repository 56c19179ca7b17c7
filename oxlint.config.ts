import { defineConfig } from 'oxlint'

/** Which of our folders a folder may import. A folder that is missing here may not exist. */
const may = {
  'src/core': [],
  'src/contract': ['src/core'],
  'src/i18n': [],
  'src/theme': [],
  'src/workers': ['src/core', 'src/contract'],
  'src/stores': ['src/core', 'src/contract', 'src/i18n', 'src/workers'],
  'src/islands/parts': ['src/core', 'src/contract', 'src/i18n', 'src/stores'],
  'src/islands': ['src/core', 'src/contract', 'src/i18n', 'src/stores', 'src/islands/parts'],
  'src/components': ['src/core', 'src/i18n'],
  'src/shell': ['src/core', 'src/contract', 'src/i18n', 'src/stores'],
  'src/layouts': ['src/core', 'src/i18n', 'src/theme', 'src/components', 'src/shell'],
  'src/pages': [
    'src/core',
    'src/contract',
    'src/i18n',
    'src/components',
    'src/layouts',
    'src/islands'
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
