import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import node from '@astrojs/node'
import react from '@astrojs/react'
import tailwind from '@tailwindcss/vite'
import { defineConfig, passthroughImageService } from 'astro/config'
import i18next from 'astro-i18next'
import { textsOf } from './scripts/texts.ts'

const worker = {
  format: 'es',
  plugins: () => [fewerPasswords()],
  // The server knows them by this name and sends them with a policy of their own.
  rolldownOptions: { output: { entryFileNames: '_astro/worker-[name]-[hash].js' } }
}

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'middleware' }),
  integrations: [islands(), i18next(), buildRecord()],
  i18n: {
    locales: ['en', 'fr'],
    defaultLocale: 'en',
    routing: { prefixDefaultLocale: true, redirectToDefaultLocale: false }
  },
  trailingSlash: 'ignore',
  // Company pictures never pass /_image (GHSA-26w7-cxv4-gfx2).
  image: { service: passthroughImageService() },
  prefetch: { prefetchAll: true, defaultStrategy: 'hover' },
  security: { csp: { algorithm: 'SHA-256' } },
  // No Markdown pages; the highlighter's inline styles would not pass the policy.
  markdown: { syntaxHighlight: false },
  devToolbar: { enabled: false },
  vite: {
    plugins: [tailwind()],
    // An inline module script would make ClientRouter insert a `data:` script, which the policy refuses.
    build: { assetsInlineLimit: 0 },
    worker
  }
})

/** Returns the integration of React, with our own module that hydrates the islands in the browser. */
function islands() {
  const integration = react()
  const setUp = integration.hooks['astro:config:setup']
  const clientEntrypoint = '/src/islands/kit/hydrate.ts'
  integration.hooks['astro:config:setup'] = options =>
    setUp?.({
      ...options,
      addRenderer: renderer => options.addRenderer({ ...renderer, clientEntrypoint })
    })
  return integration
}

/** The commonest 20,000 of the 49,000 listed passwords: half the bytes, and who guesses starts there. */
function fewerPasswords() {
  return {
    name: 'vidimus-fewer-passwords',
    transform(code, id) {
      if (!/@zxcvbn-ts\/language-common\/dist\/passwords\.json\.mjs$/.test(id)) return undefined
      // each entry: a capital for the length it shares with the one before, then the rest
      return code.replace(/(?<=decompress\(")[^"]+/, list =>
        list
          .match(/[A-Z][^A-Z]*/g)
          .slice(0, 20_000)
          .join('')
      )
    }
  }
}

/**
 * Writes `dist/build.json` for server/site/astro-build.ts: the id and time of this build, its page routes,
 * its words, and its scripts.
 */
function buildRecord() {
  let routes = []
  const scripts = { ofSource: {}, imports: {} }
  const noteScripts = { name: 'vidimus-scripts', generateBundle }

  function generateBundle(_options, bundle) {
    if (this.environment.name !== 'client') return
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk')
    for (const { fileName, imports, moduleIds } of chunks) {
      const name = basename(fileName, '.js')
      scripts.imports[name] = imports
        .filter(each => each in bundle)
        .map(each => basename(each, '.js'))
      for (const id of moduleIds) scripts.ofSource[sourceOf(id)] = name
    }
    // what is imported as a whole
    for (const { fileName, facadeModuleId } of chunks)
      if (facadeModuleId) scripts.ofSource[sourceOf(facadeModuleId)] = basename(fileName, '.js')
    refuseCycles(scripts.imports)
  }

  return {
    name: 'vidimus-build-record',
    hooks: {
      'astro:config:setup': ({ updateConfig }) =>
        updateConfig({ vite: { plugins: [noteScripts] } }),
      'astro:routes:resolved': options => {
        const patterns = options.routes.map(({ pattern }) => pattern)
        routes = patterns.filter(pattern => pattern.startsWith('/[locale]')).sort()
      },
      'astro:build:done': async ({ dir }) => {
        const dist = fileURLToPath(new URL('..', dir))
        const messages = { en: textsOf('en'), fr: textsOf('fr') }
        const id = await fingerprint(dist)
        const built = new Date().toISOString()
        await writeFile(
          `${dist}/build.json`,
          JSON.stringify({ id, built, routes, scripts, messages })
        )
      }
    }
  }
}

/**
 * Of two scripts that import each other, the first to run reads `undefined` from the second, without
 * an error: `logIn` was once checked with a schema that was not there (decision 8).
 */
function refuseCycles(imports) {
  for (const name of Object.keys(imports)) {
    const found = new Set(imports[name])
    for (const each of found) for (const next of imports[each]) found.add(next)
    if (found.has(name)) throw new Error(`The script ${name} imports itself through others`)
  }
}

/** Returns the path of a module below `src`. */
function sourceOf(id) {
  return id.replaceAll('\\', '/').replace(/^.*\/src\//, '')
}

/**
 * The same sources give the same id, so that replicas of one release agree, and the edge with Node:
 * its server modules differ, and it adds two files for its provider.
 */
async function fingerprint(dist) {
  const hash = createHash('sha256')
  const isOwn = path => /^(?:server\/|_headers$|\.assetsignore$)/.test(path)
  for (const folder of [fileURLToPath(new URL('src', import.meta.url)), `${dist}client`]) {
    for (const path of (await filesIn(folder)).filter(path => !isOwn(path))) {
      hash.update(path).update(await readFile(`${folder}/${path}`))
    }
  }
  return hash.digest('base64url').slice(0, 16)
}

/** Returns the paths below a folder, in order. */
export async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'))
    .sort()
}
