import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getMimeType } from 'hono/utils/mime'
import * as z from 'zod/mini'
import { guardNames, isGuardName } from '../../core/pages/page-guards.ts'
import { astroRouteOf, type PageEntry, pages as pageTable } from '../../core/pages/page-table.ts'

export type Locale = 'en' | 'fr'

/** Calls `next` if no route matches the request. */
export type PageRenderer = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
  locals: object
) => Promise<void>

export interface AstroBuild {
  id: string
  built: Date
  messages: Record<Locale, Words>
  scripts: BuiltScripts
  /** By path: `/kdf-a1.json`, `/_astro/client.FVv06Hs5.js`. */
  files: Map<string, BuiltFile>
  render: PageRenderer
}

/** The scripts of the pages, by name: `Verify.FVv06Hs5`. */
export interface BuiltScripts {
  /** The script that contains a source: `islands/verify/Verify.tsx`. */
  ofSource: Record<string, string>
  /** The scripts that a script imports at its start. */
  imports: Record<string, string[]>
}

export interface BuiltFile {
  body: Buffer<ArrayBuffer>
  type: string
}

interface Words {
  [key: string]: string | Words
}

const BuildRecord = z.object({
  id: z.string(),
  built: z.iso.datetime(),
  // the routes that have a page, such as `/[locale]/verify`
  routes: z.array(z.string()),
  scripts: z.object({
    ofSource: z.record(z.string(), z.string()),
    imports: z.record(z.string(), z.array(z.string()))
  }),
  messages: z.object({ en: z.record(z.string(), z.any()), fr: z.record(z.string(), z.any()) })
})

/** Throws if `table` does not list exactly the pages of the build, or names an unknown guard. */
export async function readAstroBuild(
  folder: string,
  table: Record<string, PageEntry> = pageTable
): Promise<AstroBuild> {
  const read = BuildRecord.safeParse(JSON.parse(await readRecord(folder)))
  if (!read.success) {
    throw new Error(`The pages in ${folder} were built by another version: run npm run build`)
  }
  const { routes, ...record } = read.data
  checkPages(routes, Object.values(table))
  const entry = pathToFileURL(resolve(folder, 'server', 'entry.mjs')).href
  const { handler } = (await import(entry)) as { handler: PageRenderer } // as: Astro's adapter wrote it
  const built = new Date(record.built)
  const files = await readFiles(join(folder, 'client'))
  return { ...record, built, files, render: handler }
}

// a page with an unknown guard would be open to everybody
function checkPages(routes: string[], table: PageEntry[]): void {
  const unknown = table
    .filter(({ guard }) => !isGuardName(guard))
    .map(({ path, guard }) => `${path} names "${guard}"`)
  if (unknown.length > 0) {
    throw new Error(`Unknown guard: ${unknown.join(', ')}. There are: ${guardNames.join(', ')}.`)
  }
  const listed = table.map(astroRouteOf)
  const faults = [
    ...routes.filter(route => !listed.includes(route)).map(route => `${route} has no row`),
    ...listed.filter(route => !routes.includes(route)).map(route => `${route} has no page`)
  ]
  if (faults.length === 0) return
  throw new Error(
    `core/pages/page-table.ts differs from the built pages: ${faults.join(', ')}. If src has both, the build is out of date: run npm run build.`
  )
}

async function readRecord(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'build.json'), 'utf8')
  } catch (cause) {
    throw new Error(`There are no built pages in ${folder}: run npm run build`, { cause })
  }
}

async function readFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const files = await Promise.all(
    paths.map(async (path): Promise<[string, BuiltFile]> => {
      const body = await readFile(path)
      const type = getMimeType(path) ?? 'application/octet-stream'
      return [path.slice(folder.length).replaceAll('\\', '/'), { body, type }]
    })
  )
  return new Map(files)
}
